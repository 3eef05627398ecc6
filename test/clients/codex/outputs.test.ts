/** Long outputs in the real Codex: the model's request has the preview, and `recall` brings back the bytes. */
import { expect, it } from "vitest";
import { namespaceCall } from "../responses-api.ts";
import { steps } from "../script.ts";
import { echoServer } from "./codex-repo.ts";
import { codexOnce } from "./codex-test.ts";
import { haversack, haversackRepo } from "./haversack-repo.ts";
import { shell } from "./tour.ts";

const PRINT =
  "for n in $(seq 1 900); do if [ $n = 481 ]; then echo 'FAIL cart.test.js > adds up'; else echo ok $n item; fi; done";

it("a command's output comes as a preview, and its parts on request", async () => {
  const repo = haversackRepo("user");
  haversack(repo, "config", "set", "outputs.replace_over", "4000");
  const script = (request: { input: unknown }, n: number) => {
    if (n === 1) return shell(PRINT);
    const handle = /kept this output as (K\d+)/.exec(JSON.stringify(request.input))?.[1] ?? "";
    if (n === 2) return { tools: [namespaceCall("mcp__haversack", "recall", { handle, lines: "480-482" })] };
    return { text: "done" };
  };
  const { server } = await codexOnce("Test it.", script as never, { repo });
  const [, second, third] = server.of("main").map(({ input }) => JSON.stringify(input));
  expect(second).toContain("FAIL cart.test.js > adds up");
  expect(second).not.toContain("ok 300 item");
  expect(third).toMatch(/ok 480 item\\+nFAIL cart\.test\.js > adds up\\+nok 482 item/);
});

it("the result of an MCP tool comes as a preview too", async () => {
  const repo = haversackRepo("user", {}, { seesOutputs: true });
  haversack(repo, "config", "set", "outputs.replace_over", "4000");
  repo.addConfig(echoServer(repo));
  const script = steps([{ tools: [namespaceCall("mcp__echo", "recall", { handle: "x".repeat(9_000) })] }]);
  const { server } = await codexOnce("Ask it.", script, { repo });
  const text = server.requests[1]?.toolResults[0]?.text ?? "";
  expect(text).toMatch(/\[characters \d+-\d+ left out\]/);
  expect(text.length).toBeLessThan(2_500);
});
