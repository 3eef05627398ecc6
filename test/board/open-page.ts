/** Opens the board in Chromium, and the project that most tests look at. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { type Scratch, scratchProject } from "../bins.ts";
import type { RunningBoard } from "./start-board.ts";

const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

let browser: Browser;

/** Call it once per file. */
export function useBrowser(): void {
  beforeAll(async () => {
    if (!existsSync(executablePath))
      throw new Error(`there is no Chromium at ${executablePath}; CHROMIUM names another`);
    browser = await chromium.launch({ executablePath, args: FLAGS });
  });
  afterAll(() => browser?.close());
}

/** A browser profile of its own: nothing is stored yet. */
export async function freshContext(): Promise<BrowserContext> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  return context;
}

type PageOptions = Parameters<Browser["newPage"]>[0];

export async function open(board: RunningBoard, options: PageOptions = {}): Promise<Page> {
  const page = await openAddress(board.url, options);
  await page.locator(".column").first().waitFor();
  return page;
}

export async function openAddress(address: string, options: PageOptions = {}): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  // The page's own policy must not block any part of it.
  page.on("console", (message) => {
    if (message.type() === "error" && message.text().includes("Content Security Policy")) problems.push(message.text());
  });
  onTestFinished(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });
  await page.goto(address);
  return page;
}

/** Some work in every column, names that try to be HTML, and a skill. */
export function shop(): Scratch {
  const project = scratchProject();
  const june = { env: { HAVERSACK_AGENT: "june" } };
  const made = (title: string, ...more: string[]) =>
    project.haversack(["task", "create", title, "--json", ...more]).json().id as string;
  project.haversack(["agent", "add", "june", "--role", "implementer"]);
  project.haversack(["agent", "message", "june", "Look at the tax first, please."]);
  const refund = made("Refunds: report errors properly", "--priority", "P1", "--description", "As problem details.");
  project.haversack(["task", "claim", refund], june);
  project.haversack(["wip", refund, '{"next_step":"write the test","files":["src/refund.ts"]}'], june);
  const keys = made("Retry failed webhooks", "--type", "bug");
  project.haversack(["task", "block", keys, "waits for the provider's new keys"]);
  project.haversack(["task", "done", made("Remove the old cart")], june);
  made('<img src=x onerror="document.title=1"><script>document.title="owned"</script>');
  made("Print invoices as PDF");
  const about = "Use when an HTTP endpoint must report errors: status codes, problem details.";
  project.write(".claude/skills/api-errors/SKILL.md", `---\nname: api-errors\ndescription: "${about}"\n---\nBody\n`);
  const payload = { session_id: "s1", prompt: "the refund endpoint must report proper error status codes" };
  project.haversack(["discover", "--session", "s1", "--client", "claude-code"], { stdin: payload.prompt });
  return project;
}

/** Transcripts of Claude Code on three days, with pasted text. */
export function writePastSessions({ root, home }: Scratch): void {
  for (const day of [0, 1, 2]) {
    const timestamp = new Date(Date.now() - day * 86_400_000).toISOString();
    const common = { sessionId: `a${day}`, cwd: root, timestamp };
    const usage = { input_tokens: 5_000, output_tokens: 1 };
    const records = [
      { type: "user", message: { role: "user", content: "Why? ".repeat(700) }, ...common },
      { type: "assistant", message: { id: "m", role: "assistant", content: [], usage }, ...common },
    ];
    const file = join(home, `.claude/projects/-p/a${day}.jsonl`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  }
}
