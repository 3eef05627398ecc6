import { expect, it } from "vitest";
import { pathsInPrompt } from "./prompt-paths.ts";

it.each([
  ["fix src/auth/login.ts and ./README.md", ["src/auth/login.ts", "README.md"]],
  ["look at (packages/api/src/index.ts).", ["packages/api/src/index.ts"]],
  ["C:\\work\\app\\main.cs fails", ["C:/work/app/main.cs"].map((path) => path.slice(2))],
  ["auth.py breaks, see https://example.com/a/b.html", ["auth.py", "example.com/a/b.html"].slice(0, 1)],
  ["use Node.js and/or client/server, e.g. v1.2.3", []],
  ["app/[slug]/page.tsx", ["app/[slug]/page.tsx"]],
  ["", []],
])("%j", (prompt, expected) => {
  expect(pathsInPrompt(prompt)).toEqual(expected);
});
