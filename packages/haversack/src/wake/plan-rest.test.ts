import { expect, it } from "vitest";
import { planRest } from "./plan-rest.ts";

const SECTION = `POST /login takes a name. Sessions last a day.

**Files:**
- Create: \`internal/auth/login.go\`
- Test: \`internal/auth/login_test.go:10-40\`

**Done when:**
- Wrong passwords get 401.

**Step 1: Write a failing test**

\`\`\`go
// Make it pass
func TestLogin(t *testing.T) { }
\`\`\`

**Step 2:** Make it pass
- [ ] Commit

See internal/auth/login.go for the old one.
`;

const TASK = {
  texts: ["POST /login takes a name.", "- Wrong passwords get 401.", "Write a failing test", "Make it pass", "Commit"],
  files: ["internal/auth/login.go", "internal/auth/login_test.go"],
};

it("leaves out the files, steps and criteria that the task has, and keeps what stands below a step", () => {
  expect(planRest(SECTION, TASK)).toBe(`POST /login takes a name. Sessions last a day.

Step 1:

\`\`\`go
// Make it pass
func TestLogin(t *testing.T) { }
\`\`\`

See internal/auth/login.go for the old one.`);
});

it("keeps files that the task does not have, with their label", () => {
  const text = planRest(SECTION, { ...TASK, files: ["internal/auth/login.go"] });
  expect(text).toContain("**Files:**\n- Test: `internal/auth/login_test.go:10-40`");
  expect(text).not.toContain("Create:");
  expect(
    planRest("Files: create a/b.ts and c.ts; change d/e.ts.", { texts: [], files: ["a/b.ts", "c.ts", "d/e.ts"] }),
  ).toBe("");
  const why = "- a/b.ts holds the rules";
  expect(planRest(why, { texts: [], files: ["a/b.ts"] })).toBe(why);
});

it("is nothing where the task says all of it, and all of it where there is no task", () => {
  expect(planRest("- [ ] Write a failing test\n1. Make it pass\n", TASK)).toBe("");
  expect(planRest(SECTION, { texts: [], files: [] })).toBe(SECTION.trim());
});
