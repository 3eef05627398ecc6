/** What every driver of the work store must do. Each driver's test runs this suite on a store of its own. */
import { afterEach, beforeEach, describe } from "vitest";
import { activitySuite } from "./work-activity.suite.ts";
import { claimsSuite } from "./work-claims.suite.ts";
import { decaySuite } from "./work-decay.suite.ts";
import { dependenciesSuite } from "./work-dependencies.suite.ts";
import { groupsSuite } from "./work-groups.suite.ts";
import { handoffsSuite } from "./work-handoffs.suite.ts";
import { idsSuite } from "./work-ids.suite.ts";
import { leasesSuite } from "./work-leases.suite.ts";
import { leftSuite } from "./work-left.suite.ts";
import { queueSuite } from "./work-queue.suite.ts";
import { statusSuite } from "./work-status.suite.ts";
import { tasksSuite } from "./work-tasks.suite.ts";
import type { OpenedWorkStore, UnderTest } from "./work-under-test.suite.ts";
import { wipSuite } from "./work-wip.suite.ts";

export function workStoreSuite(driver: string, open: () => Promise<OpenedWorkStore>): void {
  describe(`work store on ${driver}`, () => {
    let opened: OpenedWorkStore;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());
    const test: UnderTest = {
      get store() {
        return opened.store;
      },
      reopen: () => opened.reopen(),
    };

    describe("activity", () => activitySuite(test));
    describe("ids", () => idsSuite(test));
    describe("tasks", () => tasksSuite(test));
    describe("status", () => statusSuite(test));
    describe("claims", () => claimsSuite(test));
    describe("leases", () => leasesSuite(test));
    describe("left work", () => leftSuite(test));
    describe("dependencies", () => dependenciesSuite(test));
    describe("stories and epics", () => groupsSuite(test));
    describe("queue", () => queueSuite(test));
    describe("WIP", () => wipSuite(test));
    describe("handoffs", () => handoffsSuite(test));
    describe("decay", () => decaySuite(test));
  });
}
