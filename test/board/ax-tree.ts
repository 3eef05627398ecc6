/** What a screen reader gets of the page, and where the Tab key goes. */
import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

export interface AxNode {
  role: string;
  name: string;
  /** Of a heading. */
  level?: number;
  /** polite or assertive: changes of its text are read out. */
  live?: string;
  /** Of a live part: all that it says. */
  text?: string;
  isModal?: boolean;
}

interface RawNode {
  nodeId: string;
  childIds?: string[];
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
  properties?: { name: string; value: { value: unknown } }[];
}

/** Chromium's own accessibility tree, without what it leaves out. */
export async function accessibleNodes(page: Page): Promise<AxNode[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send("Accessibility.getFullAXTree")) as { nodes: RawNode[] };
  await session.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const textOf = (id: string): string => {
    const node = byId.get(id);
    if (node?.role?.value === "StaticText") return node.name?.value ?? "";
    return (node?.childIds ?? []).map(textOf).join("");
  };
  return nodes
    .filter(({ ignored }) => !ignored)
    .map(({ nodeId, role, name, properties = [] }) => {
      const of = (wanted: string) => properties.find((one) => one.name === wanted)?.value.value;
      const [level, live, isModal] = [of("level"), of("live"), of("modal")];
      return {
        ...{ role: role?.value ?? "", name: name?.value.trim() ?? "" },
        // A list's items have levels of their own.
        ...(level !== undefined && role?.value === "heading" && { level: Number(level) }),
        ...(typeof live === "string" && live !== "off" && { live, text: textOf(nodeId) }),
        ...(isModal === true && { isModal }),
      };
    });
}

/** Roles that mean nothing to somebody who does not hear a name with them. */
const NAMED = new Set(
  "button link textbox searchbox combobox radio checkbox meter image img dialog article navigation form region".split(
    " ",
  ),
);

/** What is wrong with the page for somebody who only hears it. */
export function faultsOf(nodes: readonly AxNode[]): string[] {
  const faults = nodes
    .filter(({ role, name }) => NAMED.has(role) && name === "")
    .map(({ role }) => `${role} has no name`);
  const levels = nodes.flatMap(({ level }) => (level === undefined ? [] : [level]));
  const hasDialog = nodes.some(({ role }) => role === "dialog");
  if (!hasDialog && levels.filter((level) => level === 1).length !== 1) faults.push(`headings of level 1: ${levels}`);
  levels.forEach((level, at) => {
    if (at > 0 && level > levels[at - 1]! + 1)
      faults.push(`after a heading of level ${levels[at - 1]} comes one of ${level}`);
  });
  for (const role of ["main", "banner", "navigation"]) {
    const count = nodes.filter((node) => node.role === role).length;
    if (!hasDialog && count !== 1) faults.push(`${count} × ${role}`);
  }
  return faults;
}

/**
 * What axe finds against WCAG 2.2 AA and its own best practices: contrast, names, roles, order, targets. A rule that it cannot decide is no fault.
 * `seen`: the rules that looked at something.
 */
export async function axeFaults(page: Page): Promise<{ faults: string[]; seen: Set<string> }> {
  await page.evaluate(axe.source);
  // A card that is scrolled away has no layout of its own yet (`content-visibility`), so nothing can be said about its size.
  const { violations, passes } = await page.evaluate<AxeResults>(`axe.run({ runOnly: ${JSON.stringify(AXE_TAGS)} })
    .then((found) => {
      const isLaidOut = ({ target }) => document.querySelector(target[0])?.checkVisibility({ contentVisibilityAuto: true });
      for (const violation of found.violations) violation.nodes = violation.nodes.filter(isLaidOut);
      return found;
    })`);
  const faults = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any, all }) => `${id}: ${html.slice(0, 120)}: ${[...any, ...all][0]?.message ?? help}`),
  );
  return { faults, seen: new Set(passes.map(({ id }) => id)) };
}

const AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

export interface Stop {
  /** Its tag and name. */
  what: string;
  /** Whether somebody who looks sees where the focus is. */
  isSeen: boolean;
}

/** Presses Tab until the focus has gone once round. */
export async function tabStops(page: Page, { most = 400 } = {}): Promise<Stop[]> {
  const stops: Stop[] = [];
  const seen = new Set<number>();
  await page.evaluate("globalThis.stopIds = new WeakMap(); globalThis.stopCount = 0;");
  for (let press = 0; press < most; press++) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate<(Stop & { id: number }) | null>(STOP);
    // Past the last one, the focus leaves the page and comes back to the first.
    if (stop === null) continue;
    if (seen.has(stop.id)) break;
    seen.add(stop.id);
    stops.push({ what: stop.what, isSeen: stop.isSeen });
  }
  return stops;
}

const STOP = `(() => {
  const at = document.activeElement;
  if (!at || at === document.body || at === document.documentElement) return null;
  if (!stopIds.has(at)) stopIds.set(at, stopCount++);
  const isOutlined = (one) => one && getComputedStyle(one).outlineStyle !== "none" && parseFloat(getComputedStyle(one).outlineWidth) > 0;
  const name = at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent;
  return { id: stopIds.get(at), what: (at.tagName.toLowerCase() + " " + name.trim().slice(0, 40)).trim(),
    isSeen: isOutlined(at) || isOutlined(at.closest("label")) };
})()`;

/** What can be used with a mouse: as many things as Tab must reach. Of radio buttons, Tab reaches one per group. */
export function usableThings(page: Page): Promise<number> {
  return page.evaluate<number>(`(() => {
    const inside = document.querySelector("dialog[open]") ?? document;
    const all = [...inside.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
    return all.filter((one) => one.checkVisibility() && !one.disabled && !(one.type === "radio" && !one.checked)).length;
  })()`);
}
