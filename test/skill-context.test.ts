/** What a skill's chances depend on besides the prompt's words, in real scratch repositories with the built bins. */
import { describe, expect, it } from "vitest";
import { type Scratch, scratchProject } from "./bins.ts";

const SKILLS = {
  "dotnet-test": "Run and debug unit tests of .NET projects. Use when unit tests fail or a test run is slow.",
  "react-testing": "Write unit tests of React components. Use when component tests fail.",
  "release-notes": "Write release notes and a changelog entry from merged commits.",
};

function repository(files: Record<string, string>): Scratch {
  const project = scratchProject();
  project.write(".git/HEAD", "ref: refs/heads/main\n");
  for (const [path, text] of Object.entries(files)) project.write(path, text);
  for (const [name, description] of Object.entries(SKILLS))
    project.write(
      `.claude/skills/${name}/SKILL.md`,
      `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n`,
    );
  project.haversack(["init", "--bare"]);
  project.haversack(["skill", "index"]);
  return project;
}

interface Found {
  id: string;
  confidence: number;
  disclosure: string;
  reasons: { feature: string; text: string; shift?: number }[];
}

function ask({ haversack }: Scratch, prompt: string, session: string): Found[] {
  return haversack(["discover", prompt, "--session", session, "--json"]).json();
}
const confidence = (found: Found[], id: string) => found.find((one) => one.id === id)?.confidence ?? 0;

const JAVASCRIPT = { "package.json": '{"dependencies":{"react":"19"}}', "src/app.tsx": "export {};\n" };
const DOTNET = { "Shop.sln": "", "src/Shop/Shop.csproj": "<Project/>", "src/Shop/Cart.cs": "class Cart {}\n" };

describe("the project's languages", () => {
  it("keep a .NET skill from a JavaScript project unless it is named, and the other way round", () => {
    const here = repository(JAVASCRIPT);
    const there = repository(DOTNET);
    const prompt = "unit tests of the cart fail";
    const [inJavaScript, inDotnet] = [ask(here, prompt, "a"), ask(there, prompt, "a")];
    expect(confidence(inJavaScript, "react-testing")).toBeGreaterThan(confidence(inJavaScript, "dotnet-test"));
    expect(confidence(inDotnet, "dotnet-test")).toBeGreaterThan(confidence(inDotnet, "react-testing"));
    expect(confidence(inJavaScript, "dotnet-test")).toBeLessThan(0.4);

    // The prompt says the language, or the skill's name.
    expect(ask(here, "the .NET unit tests of the cart fail", "b")[0]).toMatchObject({
      id: "dotnet-test",
      disclosure: "full",
    });
    expect(ask(here, "use dotnet-test", "c")[0]).toMatchObject({ id: "dotnet-test", disclosure: "body" });

    const why = here.haversack(["why", "--session", "a"]).out;
    expect(why).toContain("less likely: dotnet: not in this project");
    expect(why).toContain("more likely: react");
  });

  it("include what this session touches", () => {
    const project = repository(JAVASCRIPT);
    project.write("tools/Gen.cs", "class Gen {}\n");
    const event = { session_id: "s1", cwd: project.root, transcript_path: "", permission_mode: "default" };
    project.hook({
      ...event,
      hook_event_name: "PostToolUse",
      tool_name: "Edit",
      tool_use_id: "t1",
      tool_input: { file_path: `${project.root}/tools/Gen.cs`, old_string: "a", new_string: "b" },
      tool_response: {},
    });
    const found = ask(project, "unit tests of the cart fail", "s1");
    expect(found.find(({ id }) => id === "dotnet-test")?.reasons).toContainEqual(
      expect.objectContaining({ feature: "project", text: "dotnet: touched in this session", shift: 0.5 }),
    );
  });

  it("are read again when the index is brought up to date", () => {
    const project = repository(JAVASCRIPT);
    project.write("api/Api.csproj", "<Project/>");
    project.haversack(["skill", "index", "--changed"]);
    const [found] = ask(project, "the dotnet unit tests fail", "a");
    expect(found?.reasons).toContainEqual(expect.objectContaining({ feature: "project", text: "dotnet", shift: 0.3 }));
  });
});

it("the task in hand makes a skill more likely that its title speaks of", () => {
  const project = repository(JAVASCRIPT);
  const { id } = project.haversack(["task", "create", "Changelog of version 2", "--json"]).json();
  project.haversack(["claim", id], { env: { CLAUDE_CODE_SESSION_ID: "s1" } });
  const event = { session_id: "s1", cwd: project.root, transcript_path: "", permission_mode: "default" };
  project.hook({ ...event, hook_event_name: "UserPromptSubmit", prompt: "write the entry from the merged commits" });
  expect(project.haversack(["why", "--session", "s1"]).out).toContain(`more likely: "changelog" in the task's title`);
});

describe("learning from use", () => {
  const PROMPT = "write release notes for this version";
  /** A session that is shown the skill, and loads it or not. */
  const session = (project: Scratch, name: string, isUsed: boolean) => {
    ask(project, PROMPT, name);
    if (isUsed) project.haversack(["skill", "show", "release-notes", "--session", name]);
  };

  it("is off by default, explained, exported and reset", () => {
    const project = repository(JAVASCRIPT);
    const before = confidence(ask(project, PROMPT, "first"), "release-notes");
    for (let at = 0; at < 6; at++) session(project, `ignored-${at}`, false);
    expect(confidence(ask(project, PROMPT, "off"), "release-notes")).toBe(before);

    project.haversack(["config", "set", "skills.learn", "true"]);
    const learned = project.haversack(["skill", "learned", "--json"]).json();
    expect(learned).toMatchObject({
      is_on: true,
      since: null,
      skills: [{ id: "release-notes", used: 0, searched: 0 }],
    });
    expect(learned.skills[0].ignored).toBeGreaterThanOrEqual(7);
    expect(learned.skills[0].shift).toBeLessThan(0);
    expect(confidence(ask(project, PROMPT, "on"), "release-notes")).toBeLessThan(before);
    expect(project.haversack(["why", "--session", "on"]).out).toContain("less likely: shown and used 0, ignored");

    expect(project.haversack(["skill", "learned", "--reset"])).toMatchObject({ code: 0 });
    expect(project.haversack(["skill", "learned", "--json"]).json().skills).toEqual([]);
    expect(confidence(ask(project, PROMPT, "again"), "release-notes")).toBe(before);
  });
});
