/** Long outputs in the real opencode: the model's request has the preview, and `recall` brings back the bytes. */
import { expect, it } from "vitest";
import { messagesText } from "../request-text.ts";
import { toolCall } from "../script.ts";
import { haversack, haversackRepo } from "./haversack-repo.ts";
import { testServer } from "./opencode-test.ts";
import { runOpencode } from "./run-opencode.ts";

const PRINT =
  "for n in $(seq 1 900); do if [ $n = 481 ]; then echo 'FAIL cart.test.js > adds up'; else echo ok $n item; fi; done";

it("a command's output comes as a preview, and its parts on request", async () => {
  const repo = haversackRepo();
  haversack(repo, "config", "set", "outputs.replace_over", "4000");
  const server = await testServer((request, n) => {
    if (request.kind !== "main") return undefined;
    if (n === 1) return { tools: [toolCall("bash", { command: PRINT, description: "prints" })] };
    const handle = /kept this output as (K\d+)/.exec(messagesText(request))?.[1] ?? "";
    if (n === 2) return { tools: [toolCall("haversack_recall", { handle, lines: "480-482" })] };
    return { text: "done" };
  });
  const run = await runOpencode({ repo, server, prompt: "Test it." });
  expect(run.exitCode).toBe(0);
  const [, second, third] = server.of("main").map((request) => messagesText(request));
  expect(second).toContain("FAIL cart.test.js > adds up");
  expect(second).not.toContain("ok 300 item");
  expect(third).toContain("ok 480 item\nFAIL cart.test.js > adds up\nok 482 item");
});
