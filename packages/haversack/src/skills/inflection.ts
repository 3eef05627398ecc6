/**
 * One form for the inflections of an English word: test, tests, testing and tested are the same, latest is another word.
 * Narrower than the stemmer of the ranking: a keyword is the author's own word, and `port` must not match `portal`.
 * The result need not be a word. Runs in the hook process.
 */
export function inflectionStem(word: string): string {
  // Nobody inflects a word of 40 letters, and the endings below are searched with backtracking.
  if (word.length < 4 || word.length > 40 || !/^[a-z]+$/.test(word)) return word;
  const known = EXCEPTIONS[word];
  return known ?? withoutDerivation(withoutVerbEnding(withoutPlural(word)), word);
}

/** Words whose ending only looks like one, or whose family would be another word's (production is no product). */
const EXCEPTIONS: Record<string, string | undefined> = Object.assign(Object.create(null) as Record<string, string>, {
  embed: "embed",
  news: "news",
  need: "need",
  speed: "speed",
  indices: "index",
  built: "build",
  written: "write",
  ran: "run",
  broke: "break",
  broken: "break",
  production: "production",
  thing: "thing",
  during: "during",
});

function withoutPlural(word: string): string {
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|zz)es$/.test(word)) return word.slice(0, -2);
  // status, redis, class: an s that is no plural. apis is one.
  if (!word.endsWith("s") || (/(?:ss|us|is)$/.test(word) && word !== "apis")) return word;
  return word.slice(0, -1);
}

function withoutVerbEnding(word: string): string {
  if (word.endsWith("ied") && word.length > 4) return `${word.slice(0, -3)}y`;
  const rest = /^(.*[aeiouy].*)(?:ed|ing)$/.exec(word)?.[1];
  if (rest === undefined || rest.length < 3 || word.endsWith("eed")) return word;
  const last = rest.at(-1)!;
  // planning → plan, debugged → debug; adding → add, calling → call, passing → pass.
  if (last === rest.at(-2) && !"aeiou".includes(last)) {
    return rest.length > 3 && !"sfz".includes(last) && (last !== "l" || rest.length > 5) ? rest.slice(0, -1) : rest;
  }
  // coding → code, noted → note: a short word keeps its e, so it must get it back; fixing → fix.
  return rest.length === 3 && /^[^aeiou][aeiouy][^aeiouywx]$/.test(rest) ? `${rest}e` : rest;
}

/** deployment, creation, validation, optimisation, verification: the same as their verbs. */
function withoutDerivation(word: string, whole: string): string {
  if (word.endsWith("ification")) return `${word.slice(0, -7)}y`;
  let rest = word;
  if (/i[sz]ation$/.test(rest)) rest = `${rest.slice(0, -6)}z`;
  else if (rest.endsWith("ation") && rest.length > 8) rest = rest.slice(0, -5);
  else if (/[st]ion$/.test(rest) && rest.length > 7) rest = rest.slice(0, -3);
  else if (rest.endsWith("ment") && rest.length > 9) rest = rest.slice(0, -4);
  if (rest.length > 4 && rest.endsWith("e")) rest = rest.slice(0, -1);
  // migrat(e, ing, ion) is migr; format and repeat are no such verbs.
  if (rest.endsWith("at") && rest.length > 5 && /[^e]at(?:e[sd]?|ing|ions?)$/.test(whole)) rest = rest.slice(0, -2);
  if (/[iy]s$/.test(rest) && rest.length > 5) rest = `${rest.slice(0, -1)}z`;
  return rest.length > 5 && rest.endsWith("ll") ? rest.slice(0, -1) : rest;
}
