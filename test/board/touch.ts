/** A finger on the page, with Chromium's touch emulation. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";

interface Point {
  x: number;
  y: number;
}

/** Rests on one point until the card lifts, moves to another point, and lets go. */
export function dragByFinger(page: Page, from: Point, to: () => Promise<Point>): Promise<void> {
  return finger(page, from, async () => {
    await page.locator(".ghost").waitFor();
    return to();
  });
}

/** Moves at once, which scrolls. */
export function swipe(page: Page, from: Point, to: Point): Promise<void> {
  return finger(page, from, async () => to);
}

async function finger(page: Page, from: Point, to: () => Promise<Point>): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", touchPoints: Point[]) =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints });
  await touch("touchStart", [from]);
  const end = await to();
  for (let step = 1; step <= 8; step++) {
    const at = (a: number, b: number) => a + ((b - a) * step) / 8;
    await touch("touchMove", [{ x: at(from.x, end.x), y: at(from.y, end.y) }]);
    await sleep(20);
  }
  await touch("touchEnd", []);
  await session.detach();
}
