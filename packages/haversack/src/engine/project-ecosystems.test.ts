import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { diskFileSystem } from "../base/file-system.ts";
import { readEcosystems } from "./project-ecosystems.ts";

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});

function repository(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), "ecosystems-"));
  made.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

it.each([
  [{ "package.json": '{"dependencies":{"react":"19"}}', "src/app.tsx": "" }, ["javascript", "react"]],
  [{ "Shop.sln": "", "src/Shop/Shop.csproj": "", "src/Shop/Cart.cs": "" }, ["dotnet"]],
  [{ "pyproject.toml": "", "infra/main.tf": "" }, ["python", "terraform"]],
  [{ "go.mod": "module x", "cmd/x/main.go": "" }, ["go"]],
  // What was installed or built is not the project's own.
  [{ "go.mod": "", "node_modules/x/index.js": "", ".venv/a.py": "", "bin/Debug/a.cs": "" }, ["go"]],
  [{ "README.md": "", LICENSE: "" }, []],
] as [Record<string, string>, string[]][])("reads the languages and frameworks of %j", (files, expected) => {
  expect(readEcosystems(repository(files), diskFileSystem).sort()).toEqual(expected);
});

it("knows nothing about a folder that is not there", () => {
  expect(readEcosystems("/nowhere/at/all", diskFileSystem)).toEqual([]);
});
