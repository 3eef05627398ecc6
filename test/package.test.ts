/** The package as a user gets it: packed, installed into an empty project without network, and run. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const HOME = join(import.meta.dirname, "../packages/haversack");
let folder: string;
let installed: string;
let packedBytes: number;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "haversack-pack-"));
  execFileSync("npm", ["pack", "--pack-destination", folder], { cwd: HOME, stdio: "pipe" });
  const [tarball = ""] = readdirSync(folder);
  packedBytes = statSync(join(folder, tarball)).size;
  writeFileSync(join(folder, "package.json"), '{"name": "empty", "version": "1.0.0", "type": "module"}');
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", join(folder, tarball)], {
    cwd: folder,
    stdio: "pipe",
  });
  installed = join(folder, "node_modules/haversack");
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the installed package", () => {
  it("brings no other package along", () => {
    expect(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["haversack"]);
  });

  it("runs its bin", () => {
    const { version } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    const run = (...words: string[]) =>
      spawnSync(join(folder, "node_modules/.bin/haversack"), words, {
        cwd: folder,
        env: { PATH: process.env["PATH"], HOME: folder },
        encoding: "utf8",
      });
    expect(run("--version").stdout).toBe(`${version}\n`);
    expect(run("store", "check", "--json").status).toBe(0);
  });

  it("runs as a link to this clone too, whose next build must not take that away", () => {
    expect(statSync(join(HOME, "dist/haversack.cjs")).mode & 0o111).toBe(0o111);
  });

  it("has typed entries", () => {
    writeFileSync(
      join(folder, "use.ts"),
      'import { estimateTokens, HaversackError, version } from "haversack";\nconst n: number = estimateTokens(version);\nconsole.log(n > 0, HaversackError.name);\n',
    );
    const tsc = join(import.meta.dirname, "../node_modules/.bin/tsc");
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--types", "", "use.ts"];
    const checked = spawnSync(tsc, options, { cwd: folder, encoding: "utf8" });
    expect(checked.stdout + checked.stderr).toBe("");
    expect(spawnSync(process.execPath, ["use.ts"], { cwd: folder, encoding: "utf8" }).stdout).toBe(
      "true HaversackError\n",
    );
  });

  it("opens a project through its library, with types for every entry", () => {
    writeFileSync(
      join(folder, "project.ts"),
      `import { openProject, type Project, type SkillAnswer } from "haversack";
import schema from "haversack/config.schema.json" with { type: "json" };
const project: Project = await openProject(".");
const answer: SkillAnswer = await project.skills.match("write a migration");
console.log(answer.format, (await project.work.listTasks({})).total, typeof schema);
project.close();
`,
    );
    const tsc = join(import.meta.dirname, "../node_modules/.bin/tsc");
    const options = [
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      "--target",
      "es2023",
      "--types",
      "",
      "--resolveJsonModule",
    ];
    const checked = spawnSync(tsc, [...options, "project.ts"], { cwd: folder, encoding: "utf8" });
    expect(checked.stdout + checked.stderr).toBe("");
    const env = { PATH: process.env["PATH"], HOME: folder };
    expect(spawnSync(process.execPath, ["project.ts"], { cwd: folder, env, encoding: "utf8" }).stdout).toBe(
      "none 0 object\n",
    );
  });

  it("runs agents on the AI SDK that is installed beside it, typed for bundlers and for Node", () => {
    // What `npm install ai` would bring, without the network.
    const linked = linkPackages(["ai"], folder);
    try {
      writeFileSync(
        join(folder, "agents.ts"),
        `import { AgentError, AgentSystemBuilder, type AgentResult, skillMiddleware, SkillRegistry } from "haversack/agents";
import { type LanguageModel, wrapLanguageModel } from "ai";
import { HaversackError } from "haversack";
import { MockLanguageModelV4 } from "ai/test";
const model = new MockLanguageModelV4({
  doGenerate: async () => ({
    content: [{ type: "text", text: "Hello." }],
    finishReason: { unified: "stop", raw: undefined },
    usage: { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } },
    warnings: [],
  }),
});
const system = await AgentSystemBuilder.default().withAgent({ name: "a", instructions: "You greet." }).withModel(model).build();
const result: AgentResult = await system.executor.execute("a", "Greet me");
const wrapped: LanguageModel = wrapLanguageModel({ model, middleware: skillMiddleware(new SkillRegistry()) });
const error: unknown = await system.executor.execute("b", "x").catch((reason: unknown) => reason);
console.log(result.text, typeof wrapped, error instanceof AgentError, error instanceof HaversackError, (error as AgentError).hint);
await system.close();
`,
      );
      const tsc = join(import.meta.dirname, "../node_modules/.bin/tsc");
      const common = ["--noEmit", "--strict", "--target", "es2023", "--types", "", "--skipLibCheck", "agents.ts"];
      for (const resolution of [
        ["--module", "node16", "--moduleResolution", "node16"],
        ["--module", "esnext", "--moduleResolution", "bundler"],
      ]) {
        const checked = spawnSync(tsc, [...resolution, ...common], { cwd: folder, encoding: "utf8" });
        expect(checked.stdout + checked.stderr).toBe("");
        // The types of `ai` have errors of their own; ours add none.
        const strict = common.filter((option) => option !== "--skipLibCheck");
        const { stdout } = spawnSync(tsc, [...resolution, ...strict], { cwd: folder, encoding: "utf8" });
        const places = stdout.split("\n").filter((line) => /^\S+\(\d+,\d+\): error/.test(line));
        expect(places.filter((line) => !/node_modules\/(ai|@ai-sdk)\//.test(line))).toEqual([]);
      }
      const ran = spawnSync(process.execPath, ["agents.ts"], { cwd: folder, encoding: "utf8" });
      expect(ran.stdout + ran.stderr).toBe("Hello. object true true Did you mean 'a'? The agents are a.\n");
      // Node prints the line of code that threw.
      const code = 'import { AgentSystemBuilder } from "haversack/agents"; await new AgentSystemBuilder().build();';
      const uncaught = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
        cwd: folder,
        encoding: "utf8",
      });
      expect(uncaught.stderr).toContain("AgentError: The system has no model.");
      expect(Math.max(...uncaught.stderr.split("\n").map(({ length }) => length))).toBeLessThan(400);
    } finally {
      for (const path of linked) rmSync(path, { recursive: true });
    }
  });

  it("can be published with provenance: where it comes from, its licence, its runtime and its files are named", () => {
    const about = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    expect(about).toMatchObject({
      repository: { type: "git", directory: "packages/haversack" },
      license: "MIT",
      engines: { node: ">=22.16" },
      os: ["!win32"],
      publishConfig: { provenance: true },
    });
    for (const entry of Object.values<string | Record<string, string>>(about.exports)) {
      for (const file of typeof entry === "string" ? [entry] : Object.values(entry)) {
        expect(existsSync(join(installed, file)), file).toBe(true);
      }
    }
  });

  it("refuses on Windows and on an old Node in two lines, before it touches anything", () => {
    const pretend = join(folder, "pretend.cjs");
    writeFileSync(pretend, 'Object.defineProperty(process, "platform", { value: "win32" });\n');
    const bin = join(installed, "dist/haversack.cjs");
    const run = (first: string, ...words: string[]) =>
      spawnSync(process.execPath, ["--require", first, bin, ...words], { cwd: folder, encoding: "utf8" });
    expect(run(pretend, "init")).toMatchObject({
      status: 3,
      stdout: "",
      stderr: "haversack: error: Windows is not supported\nhaversack: hint: run it inside WSL\n",
    });
    writeFileSync(pretend, 'Object.defineProperty(process.versions, "node", { value: "20.11.0" });\n');
    const old = run(pretend, "init");
    expect(old).toMatchObject({ status: 3, stdout: "" });
    expect(old.stderr).toContain("needs Node 22.16 or newer");
  });

  it("has the version that the README's install commands name", () => {
    const { version } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    expect(readFileSync(join(installed, "README.md"), "utf8")).toContain(
      `npm install --save-dev ./haversack-${version}.tgz`,
    );
  });

  it("ships the schema of the settings and the licences of what it bundles", () => {
    expect(readdirSync(join(installed, "dist"))).toEqual(
      expect.arrayContaining(["config.schema.json", "hook.cjs", "THIRD-PARTY-NOTICES.txt"]),
    );
    expect(readdirSync(installed)).toEqual(expect.arrayContaining(["README.md", "LICENSE"]));
  });

  it("stays small: packed below 3 MB, unpacked below 9, and what is built for a client below 5.5", () => {
    const sizeOf = (path: string) =>
      readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
    expect(packedBytes).toBeLessThan(3_000_000);
    expect(sizeOf(installed)).toBeLessThan(9_000_000);
    // Each holds a copy of the program, so the package leaves them out.
    for (const client of ["plugin", "codex", "gemini", "opencode"]) {
      expect(sizeOf(join(HOME, "dist", client)), client).toBeLessThan(5_500_000);
      expect(existsSync(join(installed, "dist", client)), client).toBe(false);
    }
  });

  it("says of a command that a client's plugin lacks where it is", () => {
    const run = (word: string) =>
      spawnSync(process.execPath, [join(HOME, "dist/plugin/haversack.cjs"), word], {
        cwd: folder,
        env: { PATH: process.env["PATH"], HOME: folder },
        encoding: "utf8",
      });
    expect(run("next")).toMatchObject({
      status: 2,
      stderr: `haversack: error: a client's plugin has no "task next"\nhaversack: hint: install the npm package haversack for all commands\n`,
    });
    expect(run("doctor").stdout).toContain("runtime");
  });
});

/** Links packages and what they need from our own installation. */
function linkPackages(names: readonly string[], into: string): string[] {
  const source = join(import.meta.dirname, "../node_modules");
  const made: string[] = [];
  for (const name of names) {
    const target = join(into, "node_modules", name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(join(source, name), target);
    made.push(target);
  }
  return made;
}
