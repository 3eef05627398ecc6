import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { openScreen } from "./screen.ts";

function terminal({ columns = 20, rows = 4 } = {}) {
  const raw: boolean[] = [];
  const stdin = Object.assign(new EventEmitter(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => raw.push(isRaw),
    resume: () => undefined,
    pause: () => undefined,
  });
  const stdout = Object.assign(new EventEmitter(), { columns, rows });
  let out = "";
  const io = {
    out: (text: string) => {
      out += text;
    },
  };
  const screen = openScreen(io, { stdin, stdout } as unknown as Pick<NodeJS.Process, "stdin" | "stdout">);
  const taken = () => {
    const text = out;
    out = "";
    return text;
  };
  return { screen, stdin, stdout, raw, taken };
}

it("fits lines into the terminal and leaves it as it was", async () => {
  const { screen, stdin, raw, taken } = terminal({ columns: 6, rows: 2 });
  expect(taken()).toBe("\u001b[?1049h\u001b[?25l");
  screen.draw(["\u001b[31mred\u001b[39m and more", "日本語日本語"]);
  expect(taken()).toBe("\u001b[H\u001b[31mred\u001b[39m a…\u001b[K\r\n日本…\u001b[K\u001b[J");
  screen.draw(["\u001b[31mredred\u001b[39m", "two", "three"]);
  expect(taken()).toBe("\u001b[H\u001b[31mredred\u001b[39m\u001b[K\r\n… 2 m…\u001b[K\u001b[J");
  const waiting = screen.wait(60_000);
  stdin.emit("data", Buffer.from("x"));
  stdin.emit("data", Buffer.from("q"));
  expect(await waiting).toBe("left");
  screen.close();
  screen.close();
  expect(taken()).toBe("\u001b[?25h\u001b[?1049l");
  expect(raw).toEqual([true, false]);
});

it("is due after a while, and when the size changes; Ctrl-C and signals leave it", async () => {
  const { screen, stdin, stdout } = terminal();
  expect(await screen.wait(1)).toBe("due");
  const resized = screen.wait(60_000);
  stdout.columns = 30;
  stdout.emit("resize");
  expect(await resized).toBe("due");
  expect(screen.width()).toBe(30);
  stdin.emit("data", Buffer.from("\u0003"));
  expect(await screen.wait(60_000)).toBe("left");
  screen.close();
  const other = terminal();
  const waiting = other.screen.wait(60_000);
  process.emit("SIGTERM", "SIGTERM");
  expect(await waiting).toBe("left");
  other.screen.close();
});
