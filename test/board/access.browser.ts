/** The board without eyes and without a mouse: the accessibility tree, and every view and dialog by keyboard alone. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { scratchProject } from "../bins.ts";
import { accessibleNodes, axeFaults, faultsOf, tabStops, usableThings } from "./ax-tree.ts";
import { open, openAddress, shop, useBrowser, writePastSessions } from "./open-page.ts";
import { startBoard } from "./start-board.ts";

useBrowser();

const VIEWS = {
  Board: "Board",
  Queue: "Ready, in order",
  Agents: "Claims",
  Runs: "Runs",
  Skills: "Skills",
  Savings: "Savings",
  Audit: "Where the windows went",
};

const viewNames = Object.keys(VIEWS) as (keyof typeof VIEWS)[];

/** The view shows all that it is going to show. */
async function isComplete(page: Page, link: keyof typeof VIEWS): Promise<void> {
  await page.getByRole("heading", { name: VIEWS[link], level: 1, exact: true }).waitFor();
  await page.getByText("Loading…").waitFor({ state: "detached" });
  // It begins to read when it is first looked at, a moment later.
  if (link === "Audit") await page.getByText(/^(?:read|Nothing to show.*)$/).waitFor();
}

describe("by ear", () => {
  it("every view has its landmarks, one title, and a name for all that can be used", async () => {
    const page = await open(await startBoard({ project: shop() }));
    for (const link of viewNames) {
      await page.getByRole("link", { name: link, exact: true }).click();
      await isComplete(page, link);
      const nodes = await accessibleNodes(page);
      expect({ link, faults: faultsOf(nodes) }).toEqual({ link, faults: [] });
      expect(nodes).toContainEqual(expect.objectContaining({ role: "navigation", name: "Views" }));
    }
  });

  it("finds what is wrong with a page", () => {
    const page = (...nodes: Parameters<typeof faultsOf>[0]) => [
      ...["main", "banner", "navigation"].map((role) => ({ role, name: role })),
      ...nodes,
    ];
    expect(faultsOf(page({ role: "heading", name: "A", level: 1 }))).toEqual([]);
    const faulty = page({ role: "heading", name: "A", level: 1 }, { role: "heading", name: "B", level: 3 });
    expect(faultsOf([...faulty, { role: "button", name: "" }, { role: "main", name: "again" }])).toEqual([
      "button has no name",
      "after a heading of level 1 comes one of 3",
      "2 × main",
    ]);
  });

  it("says where a card went, why it may not go, and what was created", async () => {
    const project = shop();
    const [first] = project.haversack(["task", "list", "--find", "Print invoices", "--json"]).json();
    const { id } = project.haversack(["task", "create", "Send them", "--json"]).json();
    project.haversack(["task", "dep", id, "--add", first.id]);
    const page = await open(await startBoard({ project }));
    const spoken = async (live: string) => {
      const nodes = await accessibleNodes(page);
      return nodes.flatMap((node) => (node.live === live ? [node.text] : [])).join(" ");
    };
    await page.locator(".card", { hasText: "Print invoices" }).focus();
    await page.keyboard.press("Shift+ArrowRight");
    await expect.poll(() => spoken("polite")).toMatch(/T\w+ moved to In progress/);
    await page.locator(".card", { hasText: "Send them" }).focus();
    await page.keyboard.press("Shift+ArrowRight");
    await expect.poll(() => spoken("assertive")).toContain(first.id);
    await page.getByRole("button", { name: "New task" }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.type("Sew the strap");
    await page.keyboard.press("Enter");
    await expect.poll(() => spoken("polite")).toMatch(/T\w+ created/);
  });

  it("a dialog is modal and named, and hides the page behind it", async () => {
    const page = await open(await startBoard({ project: shop() }));
    await page.locator(".card", { hasText: "Refunds" }).click();
    await page.getByRole("dialog").getByRole("heading", { name: "Refunds" }).waitFor();
    const nodes = await accessibleNodes(page);
    expect(faultsOf(nodes)).toEqual([]);
    const dialog = nodes.find(({ role }) => role === "dialog");
    expect(dialog).toMatchObject({ name: expect.stringMatching(/^Task T/), isModal: true });
    expect(nodes.filter(({ role, name }) => role === "button" && name === "New task")).toEqual([]);
  });
});

describe("by axe's rules", () => {
  it.each(["light", "dark"] as const)("no view, panel or dialog has a fault, %s", async (colorScheme) => {
    const project = shop();
    writePastSessions(project);
    const board = await startBoard({ project });
    for (const width of [1280, 400]) {
      const page = await open(board, { colorScheme, viewport: { width, height: 800 } });
      const expectNone = async (where: string) => {
        const { faults, seen } = await axeFaults(page);
        expect({ where, faults }).toEqual({ where, faults: [] });
        expect([...seen]).toContain("color-contrast");
      };
      for (const link of viewNames) {
        await page.getByRole("link", { name: link, exact: true }).click();
        await isComplete(page, link);
        await expectNone(`${link} at ${width}`);
      }
      await page.getByRole("link", { name: "Board", exact: true }).click();
      await page.locator(".card", { hasText: "Refunds" }).click();
      await page.getByRole("dialog").getByText("write the test").waitFor();
      await expectNone(`a task at ${width}`);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "New task" }).click();
      await page.getByRole("form", { name: "New task" }).waitFor();
      await expectNone(`a new task at ${width}`);
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: "Skills", exact: true }).click();
      await page.getByRole("textbox", { name: "Prompt" }).fill("report error status codes of the endpoint");
      await page.keyboard.press("Enter");
      await page.locator(".ranking").getByText("api-errors").waitFor();
      await expectNone(`a tried prompt at ${width}`);
    }
  });

  it("an empty board, a long column and a long word have none either", async () => {
    const project = scratchProject();
    const board = await startBoard({ project });
    const page = await open(board, { viewport: { width: 400, height: 800 } });
    await page.getByText("Nothing to do.").waitFor();
    expect((await axeFaults(page)).faults).toEqual([]);
    for (let number = 0; number < 20; number++)
      project.haversack(["task", "create", `${number}: ${"a title of some length ".repeat(6)}`]);
    await page.locator(".card", { hasText: "19: a title" }).waitFor();
    expect((await axeFaults(page)).faults).toEqual([]);
    const text = `---\nname: ropes\ndescription: "Use when ${"rope".repeat(80)} is cut."\n---\nBody\n`;
    project.write(".claude/skills/ropes/SKILL.md", text);
    await page.getByRole("link", { name: "Skills", exact: true }).click();
    await page.locator("tbody tr", { hasText: "ropes" }).waitFor();
    for (const width of [400, 800]) {
      await page.setViewportSize({ width, height: 800 });
      expect({ width, ...(await axeFaults(page)).faults }).toEqual({ width });
    }
  });

  it.each(["light", "dark"] as const)("the audit's report has no fault and fits a phone, %s", async (colorScheme) => {
    const project = scratchProject();
    writePastSessions(project);
    expect(project.haversack(["audit", "--html", "report.html"])).toMatchObject({ code: 0 });
    for (const width of [1440, 400]) {
      const viewport = { width, height: 800 };
      const page = await openAddress(`file://${join(project.root, "report.html")}`, { colorScheme, viewport });
      await page.getByRole("rowheader", { name: "Pasted documents" }).waitFor();
      expect((await axeFaults(page)).faults).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    }
  });

  it("finds text of too little contrast, and a button without a name", async () => {
    const page = await open(await startBoard());
    await page.evaluate(`document.querySelector("main").insertAdjacentHTML("beforeend",
      '<p id="pale">Pale</p><button></button>');
      document.getElementById("pale").style.color = "#aaa"; document.getElementById("pale").style.background = "#fff";`);
    const { faults } = await axeFaults(page);
    expect(faults.map((fault) => fault.split(":")[0])).toEqual(
      expect.arrayContaining(["color-contrast", "button-name"]),
    );
  });
});

describe("by keyboard", () => {
  it("Tab reaches all that can be used in every view, visibly, and goes round", async () => {
    const page = await open(await startBoard({ project: shop() }));
    for (const link of viewNames) {
      await page.getByRole("link", { name: link, exact: true }).focus();
      await page.keyboard.press("Enter");
      await isComplete(page, link);
      await page.evaluate("document.activeElement.blur()");
      const stops = await tabStops(page);
      expect({ link, unseen: stops.filter(({ isSeen }) => !isSeen) }).toEqual({ link, unseen: [] });
      const wanted = await usableThings(page);
      expect({ link, stops: stops.length, what: stops }).toMatchObject({ link, stops: wanted });
    }
  });

  it("skips to the content", async () => {
    const page = await open(await startBoard({ project: shop() }));
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.closest('main') !== null")).toBe(true);
  });

  it("creates a task in a form, and the focus is where it began", async () => {
    const { project, ...board } = await startBoard({ project: shop() });
    const page = await open({ project, ...board });
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    const make = page.getByRole("button", { name: "New task" });
    await make.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("form", { name: "New task" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("form", { name: "New task" }).waitFor({ state: "detached" });
    await expect.poll(focused).toBe("New task");
    await page.keyboard.press("Enter");
    await page.getByRole("form", { name: "New task" }).waitFor();
    await page.keyboard.type("Sew the strap");
    await page.keyboard.press("Enter");
    await page.locator(".card", { hasText: "Sew the strap" }).waitFor();
    await expect.poll(focused).toBe("New task");
  });

  it("blocks a task in its panel, and comes back to its card", async () => {
    const page = await open(await startBoard({ project: shop() }));
    const card = page.locator(".card", { hasText: "Print invoices" });
    await card.focus();
    await page.keyboard.press("Enter");
    const panel = page.getByRole("dialog", { name: /^Task T/ });
    await panel.getByLabel("Status").waitFor();
    // Round inside the panel: the page behind it gets no focus.
    const stops = await tabStops(page);
    expect(stops.filter(({ isSeen }) => !isSeen)).toEqual([]);
    expect(stops).toHaveLength(await usableThings(page));
    await panel.getByLabel("Status").focus();
    await page.keyboard.press("b");
    const reason = page.getByRole("textbox", { name: /What blocks/ });
    await reason.waitFor();
    // Escape closes the question, not the panel.
    await page.keyboard.press("Escape");
    await reason.waitFor({ state: "detached" });
    await panel.getByLabel("Status").focus();
    // On a slow machine, the last letter of a whole word would choose "Done".
    await expect.poll(() => panel.getByLabel("Status").inputValue()).toBe("todo");
    await page.keyboard.press("b");
    await reason.waitFor();
    await page.keyboard.type("no ink");
    await page.keyboard.press("Enter");
    await panel.getByText("no ink").first().waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    await page.locator('[data-status="blocked"] .card:focus', { hasText: "Print invoices" }).waitFor();
  });

  it("finds a task and opens it, tries a prompt, sends a message", async () => {
    const page = await open(await startBoard({ project: shop() }));
    await page.keyboard.press("/");
    await page.keyboard.type("webhooks");
    await page.locator(".found button").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("heading", { name: "Retry failed webhooks" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Skills", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Prompt" }).focus();
    await page.keyboard.type("report error status codes of the endpoint");
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("api-errors").first().waitFor();
    await page.getByRole("link", { name: "Agents", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Message" }).focus();
    await page.keyboard.type("Thank you");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.locator(".agent").getByText("Thank you").waitFor();
  });

  it("a key that is pressed while a dialog closes is not lost", async () => {
    const page = await open(await startBoard({ project: shop() }));
    const field = page.getByRole("searchbox", { name: "Find a task" });
    for (let round = 0; round < 10; round++) {
      await page.locator(".card", { hasText: "Print invoices" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").getByRole("heading", { name: "Print invoices" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("/");
      await page.keyboard.type("webhooks");
      await expect.poll(() => field.inputValue()).toBe("webhooks");
      await field.fill("");
    }
  });
});
