import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Judge, readVectors } from "./judge.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function endpoint(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/embeddings`;
}

const SKILLS = [
  { id: "a", name: "cats", description: "About cats." },
  { id: "b", name: "dogs", description: "About dogs." },
];
/** Long enough for a busy machine; the real bound has its own test. */
const PATIENT = { boundMs: 20_000 };
const bodies: { model: string; input: string[] }[] = [];

/** Vectors by the topic of a text. */
const fast: RequestListener = (request, response) => {
  let text = "";
  request.on("data", (chunk) => {
    text += chunk;
  });
  request.on("end", () => {
    const body = JSON.parse(text) as { model: string; input: string[] };
    bodies.push(body);
    // In another order, as the format allows.
    const data = body.input
      .map((one, index) => ({ index, embedding: /cat/.test(one) ? [1, 0.1] : [0.1, 1] }))
      .reverse();
    response.end(JSON.stringify({ data }));
  });
};

function judge(url: string, { boundMs }: { boundMs?: number } = PATIENT) {
  const logged: string[] = [];
  let now = 0;
  const one = new Judge(
    { url, model: "m" },
    { log: (text) => logged.push(text), now: () => now, ...(boundMs !== undefined && { boundMs }) },
  );
  return {
    logged,
    ask: (prompt = "feed the cat") => one.ask(prompt, SKILLS),
    later: (ms: number) => {
      now += ms;
    },
  };
}

describe("the judge", () => {
  it("says how similar each skill is, and asks for a description only once", async () => {
    bodies.length = 0;
    const { ask } = judge(await endpoint(fast));
    const found = await ask();
    expect(found?.get("a")).toBeGreaterThan(found!.get("b")!);
    await ask("walk the dog");
    const texts = bodies.flatMap(({ input }) => input);
    expect(texts.filter((text) => text === "cats: About cats.")).toHaveLength(1);
    expect(bodies.every(({ model }) => model === "m")).toBe(true);
  });

  it("masks secrets in what it sends", async () => {
    bodies.length = 0;
    const token = `ghp_${"a1B2".repeat(9)}`;
    await judge(await endpoint(fast)).ask(`the cat token is ${token}`);
    expect(JSON.stringify(bodies)).not.toContain(token);
  });

  it("does not wait for a slow endpoint", async () => {
    let answered = false;
    const url = await endpoint((_, response) => {
      setTimeout(() => {
        answered = true;
        response.end("{}");
      }, 20_000).unref();
    });
    expect(await judge(url, {}).ask()).toBeUndefined();
    expect(answered).toBe(false);
  });

  it.each([
    ["no JSON", "<html>"],
    ["no vectors", "{}"],
    ["too few vectors", '{"data":[]}'],
    ["numbers that are none", '{"data":[{"embedding":["a"]}]}'],
    ["null", '{"data":[null]}'],
  ])("leaves the order alone after %s", async (_, text) => {
    expect(await judge(await endpoint((_, response) => response.end(text))).ask()).toBeUndefined();
  });

  it("does not follow a redirect to another address", async () => {
    bodies.length = 0;
    const other = await endpoint(fast);
    const url = await endpoint((_, response) => response.writeHead(307, { location: other }).end());
    expect(await judge(url).ask()).toBeUndefined();
    expect(bodies).toEqual([]);
  });

  it("leaves an endpoint that is down alone for a minute, and says so once", async () => {
    let asked = 0;
    const url = await endpoint((_, response) => {
      asked++;
      response.writeHead(500).end();
    });
    const { ask, logged, later } = judge(url);
    for (let n = 0; n < 5; n++) expect(await ask()).toBeUndefined();
    const before = asked;
    expect(before).toBeLessThanOrEqual(6);
    expect(logged).toHaveLength(1);
    await ask();
    expect(asked).toBe(before);
    later(61_000);
    await ask();
    expect(asked).toBeGreaterThan(before);
    expect(await judge("http://127.0.0.1:9/none").ask()).toBeUndefined();
    expect(await judge("not an address").ask()).toBeUndefined();
  });
});

it("reads vectors by their index", () => {
  const data = [
    { index: 1, embedding: [2] },
    { index: 0, embedding: [1] },
  ];
  expect(readVectors(JSON.stringify({ data }), 2)).toEqual([[1], [2]]);
  expect(() => readVectors(JSON.stringify({ data: [data[0], data[0]] }), 2)).toThrow();
});
