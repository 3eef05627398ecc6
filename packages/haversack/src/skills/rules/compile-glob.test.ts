import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileGlob } from "./compile-glob.ts";

const matches = (glob: string, path: string) => {
  const compiled = compileGlob(glob);
  if ("problem" in compiled) throw new Error(compiled.problem);
  return new RegExp(compiled.source, compiled.flags).test(path) !== compiled.negated;
};

describe("compileGlob", () => {
  it.each([
    ["**/*.ts", ["a.ts", "src/a.ts", "src/x/a.ts", ".github/a.ts", ".a.ts"], ["a.tsx", "src/a.ts/b", "ats"]],
    ["src/**/*.ts", ["src/a.ts", "src/x/y/a.ts"], ["a.ts", "lib/src/a.ts", "src/a.js"]],
    ["src/*.ts", ["src/a.ts", "src/.ts"], ["src/x/a.ts", "src/a.tsx", "a.ts"]],
    ["src/**", ["src", "src/a", "src/x/y.ts"], ["srcs/a", "a/src/b"]],
    ["**/routes/**/*.ts", ["routes/a.ts", "x/routes/y/z/a.ts"], ["routes.ts", "x/routesy/a.ts"]],
    ["**/api/**", ["api", "api/x", "a/api/b/c", "a/api"], ["apis/x", "a/apix/b"]],
    ["**/a/**/b/**/c.ts", ["a/b/c.ts", "x/a/y/b/z/c.ts", "a/b/a/b/c.ts"], ["a/c.ts", "b/a/c.ts"]],
    ["src/*", ["src/a", "src/a.b"], ["src/", "src", "src/a/b"]],
    ["**/test-*.js", ["test-a.js", "x/test-.js"], ["atest-a.js"]],
    ["**/*Controller.ts", ["UserController.ts", "a/Controller.ts"], ["usercontroller.ts", "Controllers.ts"]],
    ["**/tailwind.config.*", ["tailwind.config.js", "a/tailwind.config.mjs"], ["tailwindXconfig.js"]],
    ["a?c", ["abc", "x/abc"], ["ac", "a/c", "abbc"]],
    ["[ab].ts", ["a.ts", "x/b.ts"], ["c.ts", "ab.ts"]],
    ["[!ab].ts", ["c.ts"], ["a.ts", "/.ts"]],
    ["[^a-c].ts", ["d.ts"], ["b.ts"]],
    ["src/[0-9]*.md", ["src/1.md", "src/12-x.md"], ["src/a.md"]],
    ["**/*.{ts,tsx}", ["a.ts", "b/c.tsx"], ["a.js", "a.{ts,tsx}"]],
    ["{src,lib}/**/*.{js,{m,c}js}", ["src/a.js", "lib/x/a.mjs", "lib/a.cjs"], ["bin/a.js", "src/a.ts"]],
    ["v{1..3}.md", ["v1.md", "v3.md"], ["v4.md"]],
    ["{a}.md", ["{a}.md"], ["a.md"]],
    ["**/@(a|b).md", ["a.md", "x/b.md"], ["c.md"]],
    ["colo?(u)r.css", ["color.css", "colour.css"], ["coloor.css"]],
    ["a\\*b", ["a*b"], ["axb"]],
    ["!**/*.test.ts", ["a.ts"], ["a.test.ts", "x/a.test.ts"]],
    ["./src/*.ts", ["src/a.ts"], ["x/src/a.ts"]],
    ["/README.md", ["README.md"], ["docs/README.md"]],
    [".env*", [".env", ".env.local", "app/.env"], ["env", "x.env.js/b"]],
    ["docs/", ["docs/a.md", "docs/x/y"], ["adocs/x"]],
    ["*.sql", ["a.sql", "db/migrations/a.sql"], ["a.sql.bak"]],
    ["README.md", ["README.md", "a/README.md"], ["README.mdx", "aREADME.md"]],
    ["app/(auth)/page.tsx", ["app/(auth)/page.tsx"], ["app/auth/page.tsx"]],
    ["src/**.ts", ["src/a.ts"], ["src/x/a.ts"]],
    ["*a*b*c", ["abc", "xaybzc", "aabbcc"], ["acb", "abcd", "a/b/c"]],
    ["**/*a*a*/*b*b*", ["xaxax/bb", "q/aa/xbxbx"], ["aa/b", "a/bb"]],
    ["**", ["a", "a/b/c", ".x"], [""]],
    ["**/**/a", ["a", "x/y/a"], ["b"]],
  ])("reads %s", (glob, yes, no) => {
    expect(yes.filter((path) => !matches(glob, path))).toEqual([]);
    expect(no.filter((path) => matches(glob, path))).toEqual([]);
  });

  it.each([
    ["", "empty"],
    ["!", "empty"],
    ["./", "empty"],
    ["+(a|b)", "not supported"],
    ["!(a)", "not supported"],
    ["[z-a]", "class"],
    ["x".repeat(600), "more than 500"],
    ["{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "more than 64"],
  ])("reports %j", (glob, words) => {
    const compiled = compileGlob(glob);
    expect("problem" in compiled && compiled.problem).toContain(words);
  });

  it("agrees with a plain recursive matcher on random globs and paths", () => {
    const segment = fc
      .array(fc.constantFrom("a", "b", "*", "?", "[ab]", "[!a]"), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.join("").replace(/\*+/g, "*"));
    const glob = fc
      .array(fc.oneof(segment, fc.constant("**")), { minLength: 2, maxLength: 5 })
      .map((parts) => parts.join("/"));
    const path = fc
      .array(fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 5 }), {
        minLength: 1,
        maxLength: 5,
      })
      .map((parts) => parts.join("/"));
    fc.assert(
      fc.property(glob, path, (oneGlob, onePath) => {
        expect(matches(oneGlob, onePath)).toBe(plainMatch(oneGlob.split("/"), onePath.split("/")));
      }),
      { numRuns: 4000 },
    );
  });

  it("never throws", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(..."ab*?[]{}(),!@+|/\\.-^$"), maxLength: 20 }),
        (glob) => void compileGlob(glob),
      ),
      { numRuns: 3000 },
    );
  });

  it("does not stall where a naive translation would", () => {
    // A naive translation takes more than 10^11 steps. If this ever hangs, the test times out.
    expect(matches(`${"*a".repeat(12)}*b`, "a".repeat(250))).toBe(false);
    expect(matches(`${"**/a/".repeat(12)}b`, "a/".repeat(250))).toBe(false);
  });
});

function plainMatch(glob: readonly string[], path: readonly string[]): boolean {
  const [head, ...rest] = glob;
  if (head === undefined) return path.length === 0;
  if (head === "**") {
    if (rest.length === 0) return true;
    for (let skip = 0; skip <= path.length; skip++) if (plainMatch(rest, path.slice(skip))) return true;
    return false;
  }
  if (path.length === 0) return false;
  const source =
    head === "*"
      ? "[^/]+"
      : head.replace(/\[!a\]|\*|\?/g, (sign) => (sign === "*" ? "[^/]*" : sign === "?" ? "[^/]" : "[^a/]"));
  return new RegExp(`^${source}$`).test(path[0]!) && plainMatch(rest, path.slice(1));
}
