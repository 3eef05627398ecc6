/** Synthetic skills of realistic size, from a fixed seed: names, descriptions and bodies whose words follow Zipf's law. */

export interface SyntheticSkill {
  name: string;
  text: string;
}

export function syntheticSkills(count: number, seed = 7): SyntheticSkill[] {
  const random = mulberry32(seed);
  const words = vocabulary(12_000, random);
  const pick = () => words[Math.min(words.length - 1, Math.floor(words.length ** random()) - 1)] ?? "word";
  const sentence = (length: number) => `${Array.from({ length }, pick).join(" ")}.`;
  return Array.from({ length: count }, (_, at) => {
    const name = `${pick()}-${pick()}-${at}`;
    const sections = Array.from(
      { length: 6 },
      () => `## ${sentence(3)}\n\n${Array.from({ length: 8 }, () => sentence(12)).join(" ")}\n`,
    );
    return {
      name,
      text: `---\nname: ${name}\ndescription: Use when ${sentence(30)}\n---\n\n# ${name}\n\n${sections.join("\n")}`,
    };
  });
}

/** Prompts from the same vocabulary, so common and rare words both occur. */
export function syntheticPrompts(count: number, seed = 11): string[] {
  const random = mulberry32(seed);
  const words = vocabulary(12_000, mulberry32(7));
  const pick = () => words[Math.min(words.length - 1, Math.floor(words.length ** random()) - 1)] ?? "word";
  return Array.from(
    { length: count },
    () => `please ${Array.from({ length: 6 + Math.floor(random() * 30) }, pick).join(" ")}`,
  );
}

function vocabulary(size: number, random: () => number): string[] {
  const starts = [
    "ba",
    "co",
    "de",
    "fi",
    "gra",
    "he",
    "in",
    "jo",
    "ka",
    "lo",
    "mi",
    "no",
    "pla",
    "que",
    "re",
    "sta",
    "tri",
    "ver",
    "wo",
    "ze",
  ];
  const ends = ["ck", "ding", "ler", "m", "nt", "ph", "r", "st", "tion", "x"];
  const words = new Set<string>();
  const part = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? "";
  while (words.size < size) words.add(part(starts) + part(starts) + (random() < 0.5 ? part(starts) : "") + part(ends));
  return [...words];
}

function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
