/**
 * Masking: how much of the published set of secrets is masked, how many look-alikes are changed, and the time per megabyte of ordinary
 * text and of text designed to be slow. Measures processor time, which a busy machine does not change.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { maskSecrets } from "../../packages/haversack/src/base/mask.ts";
import type { Benchmark } from "../harness.ts";
import { quantile } from "../harness.ts";
import { isMasked, lookAlikes, secretSamples } from "../secret-sets.ts";

const SEEDS = Array.from({ length: 20 }, (_, at) => at + 1);
const MEGABYTE = 1_000_000;
const SOURCES = join(import.meta.dirname, "../../packages/haversack/src");

/** Repeated up to a megabyte: prefixes at which each pattern starts but never matches. */
const HOSTILE = [
  "a",
  "eyJa.",
  "sk-",
  "ab_cd_",
  "://a:b@",
  "token=",
  'token="',
  "token: a ",
  "key-",
  "-a-",
  "cookie: a=b; ",
  "machine a login b ",
  "a:1234:b:c:",
  "mysql -pa ",
  'curl "',
  "echo a ",
  "authorization: ",
  "<password>a",
  "name: token value: ",
  "\nexport KEY",
  "kind: Secret\n data:\n  a: bcde\n",
  "-----BEGIN PRIVATE KEY-----\n",
  "-----END PRIVATE KEY-----\n",
  "LS0tLS1CRUdJTi",
  "0123456789abcdef0123456789abcdef-",
  "\\n",
];

export const secrets: Benchmark = {
  name: "secrets",
  summary: "Secrets masked, look-alikes touched, and the time for a megabyte",

  async run() {
    const samples = SEEDS.flatMap(secretSamples);
    const missed = samples.filter((sample) => !isMasked(sample, maskSecrets(sample.text)));
    const missedInJson = samples.filter((sample) => {
      const inJson = sample.secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
      return !isMasked({ ...sample, secrets: inJson }, maskSecrets(JSON.stringify({ output: sample.text })));
    });
    const innocent = SEEDS.flatMap(lookAlikes);
    const touched = innocent.filter(({ text }) => maskSecrets(text) !== text);
    const kinds = new Set(samples.map(({ kind }) => kind)).size;

    const code = ofMegabyte(readSources());
    const withSecrets = ofMegabyte(samples.map(({ text }) => text).join("\n"));
    const hostile = HOSTILE.map((unit) => ({ unit, ms: cpuMs(() => maskSecrets(ofMegabyte(unit))) }));
    const slowest = hostile.reduce((a, b) => (a.ms > b.ms ? a : b));
    const masked = share(samples.length - missed.length, samples.length);
    return {
      table: {
        columns: ["text", "texts", "result"],
        rows: [
          [`secrets, ${kinds} kinds: masked`, samples.length, percent(masked)],
          [
            "the same inside JSON: masked",
            samples.length,
            percent(share(samples.length - missedInJson.length, samples.length)),
          ],
          ["look-alikes: touched", innocent.length, percent(share(touched.length, innocent.length))],
          ["1 MB of code", 1, ms(cpuMs(() => maskSecrets(code)))],
          ["1 MB of secrets", 1, ms(cpuMs(() => maskSecrets(withSecrets)))],
          [
            "1 MB that is made to be slow: median",
            hostile.length,
            ms(
              quantile(
                hostile.map((each) => each.ms),
                0.5,
              ),
            ),
          ],
          [`1 MB that is made to be slow: ${JSON.stringify(slowest.unit)}`, 1, ms(slowest.ms)],
        ],
      },
      goals: [
        { name: "secrets masked", value: masked, limit: 97, side: "at-least", unit: " %" },
        { name: "look-alikes touched", value: touched.length, limit: 0, side: "at-most" },
      ],
      notes: [
        ...[...new Set(missed.map(({ kind, text }) => `missed: ${kind}: ${JSON.stringify(text.slice(0, 100))}`))].slice(
          0,
          10,
        ),
        ...touched.slice(0, 10).map(({ text }) => `touched: ${JSON.stringify(text.slice(0, 100))}`),
      ],
      data: { masked, touched: touched.length, hostile },
    };
  },
};

/** The median of five runs, in milliseconds of processor time. */
function cpuMs(run: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  return quantile(times, 0.5);
}

function readSources(): string {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  return files.map((file) => readFileSync(join(SOURCES, file), "utf8")).join("\n");
}

function ofMegabyte(text: string): string {
  return text.repeat(Math.ceil(MEGABYTE / text.length)).slice(0, MEGABYTE);
}

function share(part: number, whole: number): number {
  return (100 * part) / whole;
}

function percent(value: number): string {
  return `${value.toFixed(2)} %`;
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}
