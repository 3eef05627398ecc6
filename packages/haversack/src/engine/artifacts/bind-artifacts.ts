/** The operations of artifacts, bound to an open project. */
import type { BoundProject } from "../work/live-work.ts";
import type { ArtifactOperations } from "./artifact-operations.ts";
import { type ArtifactParts, artifactParts, cappedCounter } from "./artifact-parts.ts";
import { artifactRefs, readSection } from "./artifact-refs.ts";
import { auditFolder } from "./audit-folder.ts";
import { checkArtifacts } from "./check-artifacts.ts";
import { decideIssue } from "./decide-issue.ts";
import { dispatchRole } from "./dispatch-role.ts";
import { openFeature } from "./open-feature.ts";
import { recordReview } from "./record-review.ts";
import { reportReceipts } from "./report-receipts.ts";

export function bindArtifacts(project: BoundProject, { client }: { client?: string | undefined }): ArtifactOperations {
  const reading = <T>(use: (parts: ArtifactParts) => Promise<T>): Promise<T> =>
    project.read(async ({ handle, ...place }) => use(await artifactParts(handle, { ...place, client })));
  const writing = <T>(use: (parts: ArtifactParts) => Promise<T>): Promise<T> =>
    project.write(async ({ handle, ...place }) => use(await artifactParts(handle, { ...place, client })));
  return {
    dispatch: (request) => writing((parts) => dispatchRole(request, parts)),
    refs: (request) => project.read(async (place) => artifactRefs(request, place)),
    section: (request) => project.read(async (place) => readSection(request, place)),
    recordReview: (request) => writing((parts) => recordReview(request, parts)),
    reviews: ({ feature }) => reading(async (parts) => parts.store.listLoops(openFeature(feature, parts).key)),
    decideIssue: (request) => writing((parts) => decideIssue(request, parts)),
    receipts: (query = {}) => reading((parts) => reportReceipts(query, parts)),
    check: (request = {}) => project.read(async (place) => checkArtifacts(request, place)),
    audit: (request) =>
      project.read(async (place) => auditFolder(request, { ...place, countTokens: await cappedCounter() })),
  };
}
