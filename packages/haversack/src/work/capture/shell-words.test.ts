import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commandsIn, programsIn, splitShell } from "./shell-words.ts";

const shown = (line: string): string[] =>
  commandsIn(line).map(({ words, joint }) => `${joint}${joint && " "}${words.join("¦")}`);

describe("splitShell", () => {
  it.each([
    ["npm test", ["npm¦test"]],
    ["cd web && npm test 2>&1 | tail -20", ["cd¦web", "&& npm¦test", "| tail¦-20"]],
    ["a; b || c & d\ne", ["a", "; b", "|| c", "; d", "; e"]],
    ["(cd x; npm test) | tail", ["cd¦x", "; npm¦test", "| tail"]],
    ["a &&\n  b", ["a", "&& b"]],
    ["a \\\n  --long", ["a¦--long"]],
    ["echo 'a && b' \"c ; d\"", ["echo¦a && b¦c ; d"]],
    ['echo "say \\"hi\\"" it\\\'s', ['echo¦say "hi"¦it\'s']],
    ['echo "$(date | cut -d" " -f1)" done', ['echo¦$(date | cut -d" " -f1)¦done']],
    ["npm test >out.txt 2>/dev/null </dev/zero &>all", ["npm¦test"]],
    ["npm test # && npm run e2e", ["npm¦test"]],
    ['bash -lc "cd a && npm test" && echo ok', ["cd¦a", "&& npm¦test", "&& echo¦ok"]],
    ["echo 'not closed && npm test", ["echo¦not closed && npm test"]],
  ])("%s", (line, parts) => expect(shown(line)).toEqual(parts));

  it.each([
    ["cat a.md > b.md", ["b.md"]],
    ["cat a.md >> 'b c.md'; cat d.md", ["b c.md", undefined]],
    ["cat a.md 1>b.md", ["b.md"]],
    ["cat a.md &> b.md", ["b.md"]],
    ["cat a.md 2> errors < in.md", [undefined]],
    ["cat a.md 2>&1 >&2", [undefined]],
    ["cat a.md > /dev/stderr", [undefined]],
    ["cat a.md > /dev/null", ["/dev/null"]],
    ["cat a.md | tee b.md | wc > c", [undefined, undefined, "c"]],
    ["bash -c 'cat a.md; cat b.md' > c.md && cat d.md", ["c.md", "c.md", undefined]],
    ["(cat a.md; cat b.md) > c.md; cat d.md", ["c.md", "c.md", undefined]],
    ["for f in a b; do cat $f; done > c.md", ["c.md", "c.md", undefined]],
  ])("%s: where the output goes", (line, targets) =>
    expect(commandsIn(line).map(({ writesTo }) => writesTo)).toEqual(targets),
  );

  it("drops here-documents, so that a commit message is no command", () => {
    const line = `git commit -m "$(cat <<'EOF'\nfix: don't say "npm test"\n\nnpm test && rm x\nEOF\n)" && git push`;
    expect(splitShell(line).map(({ words }) => words.slice(0, 2).join(" "))).toEqual(["git commit", "git push"]);
    expect(shown("cat > a.sh <<-END\nnpm test\n  END\nls")).toEqual(["cat", "; ls"]);
    expect(shown('echo "1 << 2"\nnpm test')).toEqual(["echo¦1 << 2", "; npm¦test"]);
  });

  it("never throws and never loops", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."ab '\"`$()\\|&;<>\n#{}=-"), maxLength: 200 }), (line) => {
        for (const { words } of commandsIn(line)) expect(Array.isArray(programsIn(words))).toBe(true);
      }),
    );
    expect(splitShell(`echo ${'"$('.repeat(20_000)}`)).toHaveLength(1);
  });
});

describe("programsIn", () => {
  it.each([
    ["npm test", "npm test"],
    ["CI=1 NODE_ENV=test npx --yes vitest@latest run", "vitest run"],
    ["sudo -E timeout -k 5 60 ./node_modules/.bin/jest --ci", "jest --ci"],
    ["uv run pytest -q", "pytest -q"],
    ["coverage run -m pytest", "pytest"],
    ["/usr/bin/env python3 -m pytest", "python3 -m pytest"],
    ["do npm test", "npm test"],
    ["sudo apt install pytest", "apt install pytest"],
  ])("%s", (line, program) => expect(programsIn(line.split(" ")).map((words) => words.join(" "))).toEqual([program]));

  it("offers every place where the command inside a container may begin", () => {
    const programs = programsIn("docker compose exec -T app npm test".split(" ")).map((words) => words.join(" "));
    expect(programs).toContain("npm test");
    expect(programsIn("docker build -t pytest .".split(" "))).toHaveLength(1);
  });
});
