/** The optional embedding endpoint in the running server, which answers prompts. A scripted endpoint on this machine. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { type Scratch, scratchProject } from "./bins.ts";
import { claudeSession, wireServer } from "./claude-session.ts";
import { startServer } from "./mcp-client.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Says that texts which speak of penguins are alike. */
async function endpoint() {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const { input } = JSON.parse(text) as { input: string[] };
      asked.push(...input);
      response.end(
        JSON.stringify({ data: input.map((one) => ({ embedding: /penguin/i.test(one) ? [1, 0] : [0, 1] })) }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/embeddings` };
}

function zoo(): Scratch {
  const project = scratchProject();
  wireServer(project);
  const write = (name: string, about: string) =>
    project.write(`.claude/skills/${name}/SKILL.md`, `---\nname: ${name}\ndescription: ${about}\n---\n\n# ${name}\n`);
  write("feeding-plan", "Write a feeding schedule for aquarium animals. Use for penguin diets.");
  write("feeding-bill", "Write a feeding schedule for aquarium animals. Use for supplier bills.");
  project.haversack(["skill", "index"]);
  return project;
}

const PROMPT = "write a feeding schedule for the aquarium animals, penguins first";
const PROMPTS = 30;

it("ranks by an endpoint from the user's own config, and asks none from a project's", async () => {
  const { asked, url } = await endpoint();
  const project = zoo();
  let server = await startServer(project);
  const ask = async (name: string) => {
    const session = claudeSession(project);
    const payload = { ...session.event("UserPromptSubmit", { prompt: PROMPT }), session_id: name };
    return (await server.call("hook", { client: "claude-code", ...payload })).text;
  };
  project.write(".haversack/config.json", JSON.stringify({ skills: { judge_url: url, judge_model: "m" } }));
  expect(await ask("project")).toContain("feeding-plan");
  expect(asked).toEqual([]);

  project.write(".haversack/config.json", "{}");
  const refused = project.haversack(["config", "set", "skills.judge_url", url]);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("counts only in your own config") });
  project.haversack(["config", "set", "--user", "skills.judge_url", url]);
  project.haversack(["config", "set", "--user", "skills.judge_model", "m"]);
  // On a busy machine an answer may take longer than 50 ms; then the order by words stands. After three of them, that server does not
  // ask for a minute.
  let why = "";
  for (let n = 0; n < PROMPTS && !why.includes("the embedding endpoint"); n++) {
    if (n > 0 && n % 3 === 0) server = await startServer(project);
    expect(await ask(`user-${n}`)).toContain("feeding-plan");
    why = project.haversack(["why", "--session", `user-${n}`]).out;
  }
  expect(why).toContain("more likely: the embedding endpoint");
  expect(why).toContain("less likely: the embedding endpoint");
  expect(asked).toContain(PROMPT);

  // A process for one event never asks.
  const before = asked.length;
  const session = claudeSession(project);
  project.hook({ ...session.event("UserPromptSubmit", { prompt: PROMPT }), session_id: "cold" });
  expect(asked.length).toBe(before);
});

it("answers by words if the endpoint is down", async () => {
  const project = zoo();
  project.haversack(["config", "set", "--user", "skills.judge_url", "http://127.0.0.1:9/v1/embeddings"]);
  const server = await startServer(project);
  for (let n = 0; n < 4; n++) {
    const payload = { ...claudeSession(project).event("UserPromptSubmit", { prompt: PROMPT }), session_id: `s${n}` };
    expect((await server.call("hook", { client: "claude-code", ...payload })).text).toContain("feeding-plan");
  }
});
