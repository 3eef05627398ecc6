/** The board as a person uses it, in Chromium: pages, drag, keyboard, changes by others, refused requests. */
import { once } from "node:events";
import { mkdirSync, renameSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { processSpace } from "../../packages/haversack/src/base/process-space.ts";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";
import { SqliteRunStore } from "../../packages/haversack/src/store/sqlite/work/sqlite-run-store.ts";
import { scratchProject } from "../bins.ts";
import { axeFaults } from "./ax-tree.ts";
import { freshContext, open, shop, useBrowser, writePastSessions } from "./open-page.ts";
import { startBoard } from "./start-board.ts";
import { dragByFinger, swipe } from "./touch.ts";

/** The folder for screenshots, if it is set. */
const PICTURES = process.env["BOARD_PICTURES"];

useBrowser();

function column(page: Page, status: string) {
  return page.locator(`[data-status="${status}"]`);
}

describe("work", () => {
  it("creates a task, drags it, and the store has it", async () => {
    const board = await startBoard();
    const page = await open(board);
    await page.getByRole("button", { name: "New task" }).click();
    await page.getByLabel("Title").fill("Sew the strap");
    await page.getByLabel("Priority").selectOption("P0");
    await page.getByRole("button", { name: "Create" }).click();
    const card = page.locator(".card", { hasText: "Sew the strap" });
    await card.waitFor();
    await card.dragTo(column(page, "in_progress"));
    await column(page, "in_progress").locator(".card", { hasText: "Sew the strap" }).waitFor();
    // The card is shown in its new column before the server has answered.
    await expect
      .poll(() => board.project.haversack(["task", "list", "--json", "--fields", "full"]).json()[0])
      .toMatchObject({ title: "Sew the strap", priority: "P0", status: "in_progress" });
  });

  it("moves a card by keyboard, and opens it", async () => {
    const board = await startBoard({ project: shop() });
    const page = await open(board);
    const card = page.locator(".card", { hasText: "Print invoices" });
    await card.focus();
    await page.keyboard.press("Shift+ArrowRight");
    await column(page, "in_progress").locator(".card", { hasText: "Print invoices" }).waitFor();
    // The card keeps the focus, so the next key moves it on.
    await page.locator('[data-status="in_progress"] .card:focus', { hasText: "Print invoices" }).waitFor();
    await page.keyboard.press("Shift+ArrowRight");
    await column(page, "review").locator(".card:focus", { hasText: "Print invoices" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("heading", { name: "Print invoices as PDF" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("/");
    await page.keyboard.type("webhooks");
    await page.locator(".found").getByText("Retry failed webhooks").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("heading", { name: "Retry failed webhooks" }).waitFor();
  });

  it("moves a card as fast as somebody presses the keys", async () => {
    const board = await startBoard({ project: shop() });
    const page = await open(board);
    await page.locator(".card", { hasText: "Print invoices" }).focus();
    for (const key of ["Right", "Right", "Left", "Right"]) await page.keyboard.press(`Shift+Arrow${key}`);
    const inReview = column(page, "review").locator(".card:focus", { hasText: "Print invoices" });
    await inReview.waitFor();
    const statusOf = () =>
      board.project
        .haversack(["task", "list", "--find", "Print invoices", "--json"])
        .json()
        .map(({ status }: { status: string }) => status);
    await expect.poll(statusOf).toEqual(["review"]);
    // Changes by others move neither the focus nor the card.
    board.project.haversack(["task", "create", "Another one", "--priority", "P0"]);
    await column(page, "todo").locator(".card", { hasText: "Another one" }).waitFor();
    expect(await inReview.count()).toBe(1);
  });

  it("lets a dragged card go where Escape is pressed, and opens none", async () => {
    const page = await open(await startBoard({ project: shop() }));
    const card = column(page, "todo").locator(".card", { hasText: "Print invoices" });
    await card.hover();
    await page.mouse.down();
    await column(page, "review").hover();
    await page.locator(".column.over[data-status=review]").waitFor();
    await page.keyboard.press("Escape");
    await page.mouse.up();
    // Dropped on its own column: it stays there, and this does not count as a click.
    await card.hover();
    await page.mouse.down();
    await column(page, "review").hover();
    await card.hover();
    await page.mouse.up();
    await expect.poll(() => page.locator(".ghost, .column.over").count()).toBe(0);
    expect(await page.getByRole("dialog").count()).toBe(0);
    await card.click();
    await page.getByRole("dialog").getByRole("heading", { name: "Print invoices as PDF" }).waitFor();
  });

  it.each([400, 1280])("a long column scrolls below its heading, %i pixels wide", async (width) => {
    const project = scratchProject();
    for (let number = 0; number < 15; number++) project.haversack(["task", "create", `Task ${number}`]);
    const page = await open(await startBoard({ project }), { viewport: { width, height: 700 } });
    const last = column(page, "todo").locator(".card").last();
    await last.scrollIntoViewIfNeeded();
    await column(page, "todo").locator(".card").first().waitFor();
    for (const name of ["To do", "New task"]) {
      const role = name === "New task" ? "button" : "heading";
      const { y } = (await page.getByRole(role, { name }).boundingBox())!;
      expect({ name, isSeen: y > 0 && y < 300 }).toEqual({ name, isSeen: true });
    }
    expect((await last.boundingBox())!.y).toBeLessThan(700);
    expect(await page.evaluate("document.documentElement.scrollHeight")).toBe(700);
  });

  it("takes a finger on a phone: a card that is held moves, a swipe scrolls, a tap opens", async () => {
    const board = await startBoard({ project: shop() });
    const page = await open(board, { viewport: { width: 400, height: 800 }, hasTouch: true, isMobile: true });
    const card = page.locator(".card", { hasText: "Print invoices" });
    const centre = async (of: typeof card) => {
      const { x, y, width, height } = (await of.boundingBox())!;
      return { x: x + width / 2, y: y + height / 2 };
    };
    await dragByFinger(page, await centre(card), () => centre(page.locator(".drop[data-status=review]")));
    await column(page, "review").locator(".card", { hasText: "Print invoices" }).waitFor();
    await expect
      .poll(() => board.project.haversack(["task", "list", "--find", "Print", "--json"]).json()[0].status)
      .toBe("review");
    expect(await page.locator(".drops").count()).toBe(0);
    const scrolled = () => page.evaluate<number>("document.querySelector('.columns').scrollLeft");
    expect(await scrolled()).toBe(0);
    const other = page.locator(".card", { hasText: "<img src=x" });
    const { x, y } = await centre(other);
    await swipe(page, { x: x + 120, y }, { x: x - 160, y });
    await expect.poll(scrolled).toBeGreaterThan(100);
    expect(await page.getByRole("dialog").count()).toBe(0);
    await column(page, "in_progress").locator(".card").tap();
    await page.getByRole("dialog").waitFor();
  });

  it("puts a card back that may not move, and says why", async () => {
    const project = scratchProject();
    const first = project.haversack(["task", "create", "First", "--json"]).json().id;
    const second = project.haversack(["task", "create", "Second", "--json"]).json().id;
    project.haversack(["task", "dep", second, "--add", first]);
    const page = await open(await startBoard({ project }));
    await page.locator(".card", { hasText: "Second" }).dragTo(column(page, "in_progress"));
    await page.getByRole("alert").filter({ hasText: first }).waitFor();
    await column(page, "todo").locator(".card", { hasText: "Second" }).waitFor();
  });

  it("shows within a second what another process claims", async () => {
    const project = scratchProject();
    const id = project.haversack(["task", "create", "Sew the strap", "--json"]).json().id;
    const page = await open(await startBoard({ project }));
    await column(page, "todo").locator(".card").waitFor();
    project.haversack(["task", "claim", id], { env: { HAVERSACK_AGENT: "june" } });
    const since = Date.now();
    await column(page, "in_progress").locator(".card", { hasText: "june" }).waitFor();
    console.info(`seen ${Date.now() - since} ms after the command had ended`);
  });

  it("asks why a task is blocked, and leaves it if nobody says", async () => {
    const project = scratchProject();
    const id = project.haversack(["task", "create", "Sew the strap", "--json"]).json().id;
    const page = await open(await startBoard({ project }));
    await page.locator(".card").dragTo(column(page, "blocked"));
    const reason = page.getByRole("textbox", { name: `What blocks ${id}?` });
    await reason.waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await column(page, "todo").locator(".card").click();
    const panel = page.getByRole("dialog", { name: `Task ${id}` });
    await panel.getByLabel("Status").selectOption("blocked");
    await page.getByRole("button", { name: "Cancel" }).click();
    await expect.poll(() => panel.getByLabel("Status").inputValue()).toBe("todo");
    await panel.getByLabel("Status").selectOption("blocked");
    await reason.fill("no thread left");
    await page.getByRole("button", { name: "Block", exact: true }).click();
    await panel.getByText("no thread left").first().waitFor();
    await panel.getByLabel("Priority").selectOption("P0");
    await expect
      .poll(() => project.haversack(["task", "show", id, "--json"]).json())
      .toMatchObject({ status: "blocked", priority: "P0" });
  });

  it("creates an epic and a story, and shows the work of one", async () => {
    const project = scratchProject();
    project.haversack(["task", "create", "Buy wax"]);
    const page = await open(await startBoard({ project }));
    for (const [kind, title] of [
      ["Epics", "Bags"],
      ["Stories", "Straps"],
    ] as const) {
      await page.getByLabel(kind, { exact: true }).check();
      await page.getByRole("button", { name: /^New / }).click();
      await page.getByLabel("Title").fill(title);
      if (kind === "Stories") await page.locator("select[name=epic_id]").selectOption({ index: 1 });
      await page.getByRole("button", { name: "Create" }).click();
      await page.locator(".columns.three .card", { hasText: title }).waitFor();
    }
    await page.locator(".columns.three .card", { hasText: "Straps" }).click();
    await page.getByText("Nothing to do.").waitFor();
    await page.getByRole("button", { name: "New task" }).click();
    await page.getByLabel("Title").fill("Cut leather");
    await page.getByRole("button", { name: "Create" }).click();
    await page.locator(".card", { hasText: "Straps" }).getByText("Cut leather").waitFor();
    await page.locator("select").first().selectOption("");
    await page.locator(".card", { hasText: "Buy wax" }).waitFor();
  });

  it("shows a task's work in progress, and what names look like HTML as text", async () => {
    const page = await open(await startBoard({ project: shop() }));
    await page.locator(".card", { hasText: "Refunds" }).click();
    const panel = page.getByRole("dialog");
    await panel.getByText("write the test").waitFor();
    await panel.getByText("src/refund.ts").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".card", { hasText: "<img src=x" }).waitFor();
    expect(await page.title()).toContain("Haversack");
  });
});

describe("the other views", () => {
  it("try a prompt, the queue, agents with messages, savings with a chart", async () => {
    const page = await open(await startBoard({ project: shop() }));
    await page.getByRole("link", { name: "Skills" }).click();
    await page.getByPlaceholder("What somebody would ask").fill("report error status codes of the endpoint");
    await page.getByRole("button", { name: "Try" }).click();
    await page.locator(".ranking").getByText("api-errors").waitFor();
    await page.getByRole("link", { name: "Queue" }).click();
    await page.locator(".queue").getByText("Print invoices as PDF").waitFor();
    await page.getByRole("link", { name: "Agents" }).click();
    await page.getByText("Look at the tax first, please.").waitFor();
    await page.getByRole("link", { name: "Savings" }).click();
    await page.locator(".chart canvas").waitFor();
  });

  it("follows a run that another process drives, and stops it", async () => {
    const project = shop();
    const handle = openDatabase(join(project.root, ".haversack/haversack.db"), { durability: "full" });
    onTestFinished(() => handle.db.close());
    const runs = new SqliteRunStore(handle);
    const startedAt = new Date();
    const { id } = await runs.createRun({
      ...{ scope: { kind: "all" }, client: "codex", options: {}, machine: "here", startedAt },
      process: { id: process.pid, space: processSpace() },
    });
    await runs.addSession({ runId: id, purpose: "batch", taskIds: [], startedAt });
    const page = await open(await startBoard({ project }));
    await page.getByRole("link", { name: "Runs" }).click();
    const run = page.getByRole("article", { name: `Run ${id}` });
    await run.getByText("running").waitFor();
    const task = { runId: id, taskId: "T1234", fixes: 0, reviewFailures: 0, title: "Sew", tokens: 0, sessions: 1 };
    await runs.setTask({ ...task, state: "claimed", at: new Date() });
    await runs.updateSession(id, 1, { usedTokens: 50, windowTokens: 100, inputTokens: 41_000, costUsd: 1.25 });
    await run.getByText("50%").first().waitFor();
    await run.getByText("41k").waitFor();
    await run.getByText("$1.25").waitFor();
    await run.getByText("0 of 1").waitFor();
    await runs.setTask({ ...task, state: "done", at: new Date() });
    await run.getByText("1 of 1").waitFor();
    await run.getByRole("button", { name: "Stop", exact: true }).click();
    await expect.poll(() => runs.stopRequest(id)).toBe("gracefully");
    page.on("dialog", (dialog) => void dialog.accept());
    await run.getByRole("button", { name: "Stop now" }).click();
    await expect.poll(() => runs.stopRequest(id)).toBe("now");
    await runs.updateRun(id, { state: "ended", endedAt: new Date(), stopped: "somebody stopped it" });
    await run.getByText("somebody stopped it").waitFor();
    expect(await run.getByRole("button", { name: "Stop", exact: true }).count()).toBe(0);
  });

  it("finds a skill, and shows where the windows went", async () => {
    const project = shop();
    project.write(".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Use when printing PDF files.\n---\nB\n");
    writePastSessions(project);
    const page = await open(await startBoard({ project }));
    await page.getByRole("link", { name: "Skills" }).click();
    await page.getByPlaceholder("Find a skill").fill("printing");
    await page.locator("tbody tr", { hasText: "pdf" }).waitFor();
    expect(await page.locator("tbody tr").count()).toBe(1);
    await page.getByRole("link", { name: "Audit" }).click();
    await page.getByRole("row", { name: /Pasted documents/ }).waitFor();
    // A status that changed every second would be read out every second.
    expect(await page.getByRole("status").textContent()).toBe("read");
    await page.locator(".chart canvas").waitFor();
  });

  it("says that it lost the server, and goes on when a store comes back", async () => {
    const board = await startBoard({ project: shop() });
    const page = await open(board);
    const [state, away] = [join(board.project.root, ".haversack"), join(board.project.home, "away")];
    renameSync(state, away);
    await page.getByRole("alert").filter({ hasText: "is gone: it was moved or deleted. Put it back" }).waitFor();
    await page.locator(".card", { hasText: "Print invoices" }).waitFor();
    renameSync(away, state);
    await page.getByRole("alert").waitFor({ state: "detached" });
    board.child.kill("SIGTERM");
    await page.getByRole("alert").filter({ hasText: "No connection" }).waitFor();
  });

  it("says that a shared store cannot be reached, and since when what it shows is old", async () => {
    const board = await startBoard({ project: shop() });
    const page = await open(board);
    // The server's own answer is tested with a server that is killed (`test/postgres/offline.test.ts`).
    const offline = { snapshot_at: "2026-05-04T10:00:00.000Z", waiting: 2 };
    await page.route("**/api/project", (route) => route.fulfill({ json: { name: "shop", offline } }));
    await page.reload();
    const alert = page.getByRole("alert").filter({ hasText: "shared store cannot be reached" });
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/as it was at .*2026.* when it is back: 2 wait\./);
    expect((await axeFaults(page)).faults).toEqual([]);
  });

  it("is usable at three sizes in both themes", async () => {
    const board = await startBoard({ project: shop() });
    for (const [width, height] of [
      [1400, 900],
      [800, 1100],
      [400, 800],
    ] as const) {
      for (const colorScheme of ["light", "dark"] as const) {
        const page = await open(board, { viewport: { width, height }, colorScheme });
        for (const view of ["board", "queue", "agents", "runs", "skills", "savings", "audit"]) {
          await page.goto(`${board.origin}/#${view}`);
          await page.locator(`nav a[href="#${view}"][aria-current]`).waitFor();
          await page
            .locator(view === "savings" ? ".chart canvas" : "main section")
            .first()
            .waitFor();
          // The page itself never scrolls sideways.
          const wide = await page.evaluate("document.documentElement.scrollWidth");
          expect({ view, width, wide }).toEqual({ view, width, wide: width });
          if (PICTURES) {
            mkdirSync(PICTURES, { recursive: true });
            await page.screenshot({ path: join(PICTURES, `${view}-${width}-${colorScheme}.png`) });
          }
        }
      }
    }
  });
});

describe("who is refused", () => {
  it("a browser without the token, or with that of another board", async () => {
    const [board, other] = [await startBoard({ project: shop() }), await startBoard()];
    const context = await freshContext();
    const page = await context.newPage();
    expect((await page.goto(`${board.origin}/?token=wrong`))?.status()).toBe(401);
    await page.getByText("is wrong").waitFor();
    await page.goto(board.origin);
    await page.getByText("missing or old").waitFor();
    expect(await page.content()).not.toContain("Refunds");
    // Two boards in one browser do not get in each other's way.
    const beside = await context.newPage();
    await beside.goto(other.url);
    await beside.getByText("Nothing to do.").waitFor();
    expect(beside.url()).not.toContain("token");
    await page.goto(board.origin);
    await page.getByText("missing or old").waitFor();
    await page.goto(board.url);
    await page.locator(".card", { hasText: "Refunds" }).waitFor();
    // A reload and another tab know the token; no request of either carries a cookie.
    await page.reload();
    await page.locator(".card", { hasText: "Refunds" }).waitFor();
    await beside.goto(board.origin);
    await beside.locator(".card", { hasText: "Refunds" }).waitFor();
    expect(await context.cookies()).toEqual([]);
  });

  it("a page of another origin, in a browser that has the board open", async () => {
    const board = await startBoard({ project: shop() });
    const context = await freshContext();
    const page = await context.newPage();
    await page.goto(board.url);
    await page.locator(".column").first().waitFor();
    const other = createServer((_, answer) => answer.end("<h1>other</h1>")).listen(0, "127.0.0.1");
    await once(other, "listening");
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    const foreign = await context.newPage();
    await foreign.goto(`http://127.0.0.1:${port}/`);
    const ask = (path: string, method: string) =>
      foreign.evaluate(
        `fetch("${board.origin}${path}", { method: "${method}", credentials: "include", mode: "no-cors",
          ${method === "POST" ? `body: '{"title":"from elsewhere"}',` : ""} }).then((got) => got.type + got.status, String)`,
      );
    await ask("/api/tasks", "POST");
    expect(await ask("/api/board", "GET")).not.toContain("200");
    const titles = board.project
      .haversack(["task", "list", "--json"])
      .json()
      .map((task: { title: string }) => task.title);
    expect(titles).not.toContain("from elsewhere");
    expect(titles).toContain("Print invoices as PDF");
  });
});
