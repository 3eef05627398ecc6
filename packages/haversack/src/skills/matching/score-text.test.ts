import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryIndex } from "./memory-index.ts";
import { RECOMMEND_CONFIDENCE, rankSkills, SCORE } from "./score-text.ts";

const skill = (id: string, description: string, body = "") => ({ id, name: id, description, body, tags: [] });
const pool = [
  skill("pdf-forms", "Fill in PDF forms and extract their fields. Use when a PDF form must be completed."),
  skill("api-testing", "Write integration tests for HTTP APIs in .NET with xUnit. Use for endpoint tests."),
  skill("release-notes", "Write release notes and changelogs from merged changes. Use before publishing a version."),
  skill("commit", "Create commits with conventional messages."),
  skill(
    "query-tuning",
    "Make slow database queries fast with indexes.",
    "Look at the query plan. Missing indexes cost most.",
  ),
];
const index = memoryIndex(pool);
const rank = (prompt: string) => rankSkills(prompt, index);

describe("rankSkills", () => {
  it("puts the skill that speaks of the same matter first, and says by which words", () => {
    const [first] = rank("fill in this PDF form with the customer's data");
    expect(first).toMatchObject({ skill: "pdf-forms", named: false });
    expect(first!.confidence).toBeGreaterThanOrEqual(RECOMMEND_CONFIDENCE);
    expect(first!.evidence.map((entry) => entry.text)).toEqual(expect.arrayContaining(["pdf", "form"]));
    expect(first!.evidence.find((entry) => entry.text === "pdf")!.where).toEqual(["name", "description"]);
  });

  it.each([1, 3, 5])("finds it and abstains as well in a pool of %i", (size) => {
    const small = memoryIndex(pool.slice(0, size));
    expect(rankSkills("extract the fields of a PDF form", small)[0]!.confidence).toBeGreaterThanOrEqual(
      RECOMMEND_CONFIDENCE,
    );
    for (const prompt of ["continue", "run the tests again", "rename foo to bar", "write a poem about the sea"]) {
      for (const { confidence } of rankSkills(prompt, small)) expect(confidence).toBeLessThan(RECOMMEND_CONFIDENCE);
    }
  });

  describe("with short prompts", () => {
    const others = [
      skill("incident-review", "Write a blameless post-mortem after an outage. Use when an incident is over."),
      skill("terraform", "Author reusable Terraform modules for AWS."),
      skill("load-testing", "Run load tests with k6 and read the results."),
      skill("email-templates", "Build HTML email templates that render in Outlook and Gmail."),
      skill("cron-jobs", "Schedule recurring jobs and make them safe to run twice."),
      skill("oauth-login", "Implement OAuth and OpenID Connect login flows."),
      skill("css-layout", "Fix and design page layouts with CSS grid and flexbox."),
      skill("adr", "Record architecture decisions as short dated documents."),
      skill("dbt-models", "Create dbt models. Use when transforming warehouse data."),
      skill("app-icons", "Generate app icons and splash screens in every size."),
    ];
    // Names that say nothing: the description alone must do.
    const wanted = [
      skill("ops", "Deploy services to Kubernetes clusters with Helm. Use when deploying, scaling or rolling back."),
      skill("db", "Write safe schema migrations for Postgres. Use when adding or changing tables, columns or indexes."),
    ];
    const poolOf = (size: number) => memoryIndex([...wanted, ...others.slice(0, size - wanted.length)]);

    it.each([2, 3, 6, 12])("recommends what plainly fits in a pool of %i", (size) => {
      const [deploy] = rankSkills("deploy to kubernetes", poolOf(size));
      expect(deploy).toMatchObject({ skill: "ops" });
      expect(deploy!.confidence).toBeGreaterThanOrEqual(RECOMMEND_CONFIDENCE);
      const [migrate] = rankSkills("add a column to the users table", poolOf(size));
      expect(migrate).toMatchObject({ skill: "db" });
      expect(migrate!.confidence).toBeGreaterThanOrEqual(RECOMMEND_CONFIDENCE);
    });

    it.each([
      "continue",
      "commit this",
      "commit and push",
      "run the tests again",
      "git status",
      "fix the failing test",
    ])("stays silent at %s", (prompt) => {
      for (const size of [2, 6, 12]) {
        for (const { confidence } of rankSkills(prompt, poolOf(size)))
          expect(confidence).toBeLessThan(RECOMMEND_CONFIDENCE);
      }
    });

    describe("and names of one word", () => {
      const named = [
        skill("billing", "Trials, proration and refunds."),
        skill("pagination", "Cursors and page sizes for our lists."),
        skill("deploy", "Ship a build to staging or production."),
        skill("review", "Read a branch for naming and missing tests. Use when asked to review a branch."),
        skill("plan", "Cut a feature into tasks of half a day."),
        skill("release", "Tag a version and announce it."),
        skill("test", "How we name test cases."),
        skill("house-style", "Wording, quotes and dates in what customers read. Ask before you touch a headline."),
      ];
      const poolOf = (size: number) => memoryIndex([...named, ...others, ...wanted].slice(0, size));

      it.each([8, 12, 20])("recommends the skill whose name the prompt says, in a pool of %i", (size) => {
        const shown = (prompt: string) =>
          rankSkills(prompt, poolOf(size), { limit: 3 })
            .filter(({ confidence }) => confidence >= RECOMMEND_CONFIDENCE)
            .map((entry) => entry.skill);
        for (const [prompt, id] of [
          ["billing", "billing"],
          ["fix the billing", "billing"],
          ["add pagination to the orders page", "pagination"],
          ["deploy to production", "deploy"],
          ["deploy", "deploy"],
          ["can you deploy this?", "deploy"],
          ["review my branch", "review"],
        ] as const) {
          expect([prompt, shown(prompt)]).toEqual([prompt, expect.arrayContaining([id])]);
        }
      });

      it.each([
        "what's the plan",
        "that plan looks fine",
        "deploy is broken again",
        "the review was helpful",
        "release the lock before returning",
        "test it by hand",
        "test this",
        "use single quotes",
        "don't touch the tests",
      ])("takes an ordinary word in ordinary use for no request: %s", (prompt) => {
        for (const size of [8, 12, 20]) {
          for (const { confidence } of rankSkills(prompt, poolOf(size)))
            expect(confidence).toBeLessThan(RECOMMEND_CONFIDENCE);
        }
      });

      it("has more doubt the more of the prompt a skill does not hold", () => {
        const confidence = (prompt: string) => rankSkills(prompt, poolOf(12))[0]!.confidence;
        expect(confidence("billing for the walrus")).toBeLessThan(confidence("fix the billing"));
        expect(confidence("billing for the walrus and the umbrella")).toBeLessThan(
          confidence("billing for the walrus"),
        );
      });
    });

    it("takes one shared word, however often a skill repeats it, for no proof", () => {
      const push = memoryIndex([
        skill("push-notifications", "Push notifications: send a push, debug a push.", "Push tokens. Push topics."),
      ]);
      for (const prompt of ["push it", "push the button", "push the release forward"])
        expect(rankSkills(prompt, push)[0]!.confidence).toBeLessThan(RECOMMEND_CONFIDENCE);
    });
  });

  it("is almost sure when the prompt calls a skill by name, and then shows no other by its words", () => {
    const ranked = rank("use the release-notes skill, then test the endpoint with xunit");
    expect(ranked[0]).toMatchObject({ skill: "release-notes", named: true, confidence: 0.99 });
    for (const other of ranked.slice(1)) expect(other.confidence).toBeLessThan(RECOMMEND_CONFIDENCE);
  });

  it("does not take a plain word for a call by name", () => {
    for (const entry of rank("commit this")) expect(entry.named).toBe(false);
  });

  it("lets a skill of another world fall back", () => {
    const own = rank("integration tests for my HTTP API in C#")[0]!;
    const other = rank("integration tests for my HTTP API in Python").find((entry) => entry.skill === "api-testing")!;
    expect(other.conflict).toBe(true);
    expect(own.conflict).toBe(false);
    expect(other.confidence).toBeLessThan(own.confidence);
  });

  it("grows more confident with more evidence", () => {
    const confidence = (prompt: string) =>
      rank(prompt).find((entry) => entry.skill === "query-tuning")?.confidence ?? 0;
    const weak = confidence("improve my slow page");
    const strong = confidence("improve my slow database queries, which indexes are missing?");
    expect(strong).toBeGreaterThan(weak);
  });

  it("reads no more rows to find candidates than its budget, and still scores common words", () => {
    const many = memoryIndex([
      ...Array.from({ length: 60 }, (_, at) => skill(`filler-${at}`, "Write tests for services.")),
      skill("wanted", "Write tests for kumquats."),
    ]);
    let searched = 0;
    const counting = {
      ...many,
      postings: (terms: readonly string[], skills?: readonly string[]) => {
        const rows = [...many.postings(terms, skills)];
        if (!skills) searched += rows.length;
        return rows;
      },
    };
    const ranked = rankSkills("write tests for my kumquats", counting, { constants: { ...SCORE, rowBudget: 20 } });
    expect(searched).toBeLessThanOrEqual(20);
    expect(ranked[0]!.skill).toBe("wanted");
    expect(ranked[0]!.evidence.map((entry) => entry.text)).toContain("tests");
  });

  it("gives nothing for an empty prompt or an empty pool", () => {
    expect(rank("")).toEqual([]);
    expect(rank("please help me with this")).toEqual([]);
    expect(rankSkills("fill in a form", memoryIndex([]))).toEqual([]);
  });

  it("stays within 0..1, in order and finite, whatever the prompt", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.lorem({ maxCount: 30 })), (prompt) => {
        const ranked = rank(`${prompt} pdf form`);
        for (const { confidence } of ranked) expect(confidence >= 0 && confidence <= 1).toBe(true);
        for (let at = 1; at < ranked.length; at++)
          expect(ranked[at - 1]!.score).toBeGreaterThanOrEqual(ranked[at]!.score);
      }),
    );
  });
});

it("takes one telling word for enough, when one skill alone has it and the prompt is short", () => {
  const pool = memoryIndex(
    ["helm", "pdf", "sql"].map((id) => ({
      id,
      name: `${id}-work`,
      description: id === "helm" ? "Use when writing Kustomization overlays." : "Use when working with files.",
      body: "",
      tags: [],
    })),
  );
  const [best] = rankSkills("write a kustomization for this", pool);
  expect(best).toMatchObject({ skill: "helm" });
  expect(best?.confidence).toBeGreaterThanOrEqual(RECOMMEND_CONFIDENCE);
  expect(rankSkills("write a file for this", pool)[0]?.confidence ?? 0).toBeLessThan(RECOMMEND_CONFIDENCE);
});
