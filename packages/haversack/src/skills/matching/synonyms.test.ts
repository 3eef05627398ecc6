import { describe, expect, it } from "vitest";
import { termOf } from "./tokenize.ts";
import { synonymsOf } from "./vocabulary.ts";

const WORDS = `
slow fast latency performance speed bottleneck optimize
cost money price spend cheap bill budget expensive
bug error failure crash defect exception fail
debug diagnose troubleshoot investigate
deploy ship release publish host rollout
delete remove drop
review audit inspect
plan roadmap breakdown
auth authentication
auth authorization
login authentication signin
permission authorization access role
secret credential password
message queue event
chart graph plot diagram visualize
ui interface frontend layout
style css theme
excel spreadsheet xlsx
powerpoint slides deck presentation pptx
word docx
picture image photo
kubernetes cluster pod
docker container dockerfile
vulnerability security exploit attack hardening
refactor cleanup simplify restructure
upgrade migrate modernize port
monitor observability telemetry metrics
concurrency parallel thread
aggregate group sum total
idea brainstorm
estimate effort duration
accessibility wcag aria
translate localization internationalization
scaffold bootstrap initialize template
mock stub fake
schedule cron timer
cache memoize
retry resilience backoff
benchmark profile
infrastructure terraform iac bicep
llm gpt claude openai
rag embedding vector semantic
`;

describe("synonymsOf", () => {
  it.each(WORDS.trim().split("\n"))("knows the family: %s", (line) => {
    const family = line.split(" ").map(termOf);
    for (const term of family) {
      expect([...synonymsOf(term), term]).toEqual(expect.arrayContaining(family));
    }
  });

  it("knows nothing of a word of no family, nor of a part of one", () => {
    expect(synonymsOf("banana")).toEqual([]);
    expect(synonymsOf("slo")).toEqual([]);
  });
});
