/** Gives every test file the folder through which they share one PostgreSQL server, and stops that server at the end. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { stopShared } from "./server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    postgresFolder: string;
  }
}

export default function setUp(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "haversack-shared-pg-"));
  project.provide("postgresFolder", folder);
  return () => stopShared(folder);
}
