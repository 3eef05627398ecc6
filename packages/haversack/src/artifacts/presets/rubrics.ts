/**
 * The task of each shipped role: the opening of its prompt. A project can replace one with its own file (`rubric` in artifacts.json).
 * Keys are a role, or `set/role` if a role has a different task in each set.
 */
export const RUBRICS: Readonly<Record<string, string>> = {
  "spec-reviewer": `Review the specification as a sceptic. Approve only what two engineers could build alike without asking.
Check that
- every requirement can be tested, and says how it fails;
- everything in the PRD is covered or excluded by name, and nothing is added that nobody asked for;
- terms are used in one sense, limits are numbers, edge cases and errors are decided;
- no requirement contradicts another, and none prescribes a design without need.`,

  "design-reviewer": `Review the design as a sceptic. Approve only what would work when built exactly as written.
Check that
- every requirement of the spec has a place in the design, and every component a reason in the spec;
- interfaces name their inputs, outputs, errors and owners, and agree with one another;
- claims about existing code, libraries and limits are true: look them up in the repository;
- failure, concurrency, migration and security are decided where they matter, and simpler ways were weighed.`,

  "plan-reviewer": `Review the plan as a sceptic. Approve only an order of work that can be followed without inventing any.
Check that
- every part of the design is built by some step, and every step serves the design;
- no step needs what a later one makes, and what can run side by side is not chained;
- tests come before or with what they test, and each step ends in something that can be checked;
- assumptions are named, and the risky ones are tried first.`,

  "task-reviewer": `Review the task list as a sceptic. Approve only tasks that one engineer can finish alone from their text.
Check that
- each task is small, has one outcome, and says when it is done in a way that can be verified;
- files, dependencies and the sections of plan and design it comes from are named and exist;
- the tasks together build the whole plan, without gaps and without doing anything twice;
- tasks marked as parallel do not touch the same files.`,

  "specify/phase-reviewer": `Decide whether design can start from this specification. You are not here to find every flaw, but to find
what would make the next phase guess: requirements that are missing, open, or at odds with the PRD.`,

  "design/phase-reviewer": `Decide whether planning can start from this design. You are not here to find every flaw, but to find what
would make the next phase guess: components, interfaces, dependencies or risks that are missing, or at odds with spec or PRD.`,

  "create-plan/phase-reviewer": `Decide whether tasks can be cut from this plan. You are not here to find every flaw, but to find what would
make the next phase guess: steps without an outcome, an unclear order, parts of the design that no step builds.`,

  "create-tasks/phase-reviewer": `Decide whether implementation can start from these tasks. You are not here to find every flaw, but to find
what would stop an engineer halfway: tasks without a way to verify them, missing dependencies, parts of the plan left out.`,

  "implementation-reviewer": `Review the implementation against its documents, from the task up to the goal.
Check that
- every task is done as it says, and its conditions for being done hold: run or read the tests, do not believe reports;
- the code follows the design's components and interfaces, and deviations are deliberate;
- every acceptance criterion of the spec is met by code that you can point at;
- the problem that the PRD describes is solved for the people it names.`,

  "code-quality-reviewer": `Review the changed code for its quality: would the next engineer understand and change it safely?
Check names, structure, error handling, duplication, dead code, tests that cannot fail, and fit with the conventions around
it. Use design and spec to tell what is deliberate. Taste alone is a suggestion, never a blocker.`,

  "security-reviewer": `Review the changed code for what an attacker could do with it.
Follow untrusted input from where it enters to where it acts: injection, path traversal, missing authorisation, secrets in
code or logs, unsafe defaults, races, denial of service. Use design and spec to tell where trust ends. A finding names the input,
the path it takes and the harm; without these it is a suggestion.`,

  "code-simplifier": `Look for what the changed code could do without: layers with one caller, options that nobody sets, generality
without a second case, comments that repeat the code, dead code. The design says which structure is deliberate. Propose only
changes that keep the behaviour and make the code shorter or plainer.`,

  "test-deepener": `Find out what the tests do not show yet, and write the missing ones.
Derive the cases from the documents first: acceptance criteria, error contracts, boundaries, goals. Only then read the code, so that
its mistakes do not become your expectations. Each test must be able to fail. Where code and documents differ, report it
instead of writing a test that blesses the difference.`,

  "implement/implementer": `Fix the issues that the reviewers found, all blockers and warnings, and nothing else.
Read the code before you change it, keep to design and plan, and run the tests. If an issue is wrong, say why and leave the code
as it is.`,

  "implementing/implementer": `Stay inside the task. Write the test first and see it fail, then make it pass with the least code that the design
allows. Follow the conventions around you. Run the tests before you report, and say plainly what is not done.`,
};

/** For roles of a project that have no rubric file. */
export const GENERAL_RUBRIC =
  "Do what your role says, with the documents below as the measure. Point at file and line for every finding.";

export function shippedRubric(set: string, role: string): string {
  const key = [`${set}/${role}`, role].find((candidate) => Object.hasOwn(RUBRICS, candidate));
  return key === undefined ? GENERAL_RUBRIC : RUBRICS[key]!;
}
