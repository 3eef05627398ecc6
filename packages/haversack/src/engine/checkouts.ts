/**
 * The checkouts of a project: the main one and its linked git worktrees. They share `.haversack/` and its receipt. Some clients read their
 * settings in every checkout, others (Claude Code) only in the main one. So `uninstall` in one checkout leaves what another still uses.
 */
import { existsSync } from "node:fs";
import { git } from "./artifacts/git-snapshot.ts";
import { lockReceipt } from "./init.ts";
import { checkoutOf } from "./wired-place.ts";
import type { Client, WiredFile, WiringPlace } from "./wiring.ts";
import { type Receipt, readReceipt, writeReceipt } from "./wiring-receipt.ts";

/** The project's folder in every linked worktree that git knows, also in those that are missing now. */
export function linkedWorktrees(root: string): string[] {
  const listed = git(root, ["worktree", "list", "--porcelain", "-z"])?.split("\0") ?? [];
  const [main = "", ...linked] = listed.flatMap((line) => /^worktree (.+)$/.exec(line)?.[1] ?? []);
  const below = root.startsWith(`${main}/`) ? root.slice(main.length) : "";
  return linked.map((folder) => folder + below);
}

/** `init` is run here; called before it writes. Also drops what the receipt says about worktrees that were removed. */
export function noteCheckout(folder: string, cwd: string): void {
  changeCheckouts(folder, cwd, (known, here) => [...new Set([...known, here])]);
}

/** `uninstall` was run here, for all clients. */
export function forgetCheckout(folder: string, cwd: string): void {
  changeCheckouts(folder, cwd, (known, here) => known.filter((one) => one !== here));
}

type ChangeCheckouts = (known: readonly string[], here: string) => string[];

function changeCheckouts(folder: string, cwd: string, change: ChangeCheckouts): void {
  const { here, main } = checkoutOf(cwd);
  const before = checkoutsIn(readReceipt(folder), main);
  // Usually nothing changes; then a folder that cannot be written is no problem.
  if (change(before, here).join("\n") === before.join("\n") && !before.some((one) => isGone(one, main))) return;
  lockReceipt(folder, () => {
    const receipt = readReceipt(folder);
    const known = checkoutsIn(receipt, main);
    const gone = known.filter((one) => isGone(one, main));
    for (const part of [receipt.files, ...Object.values(receipt.deferred)]) {
      for (const path of Object.keys(part)) if (gone.some((one) => isInside(path, one))) delete part[path];
    }
    receipt.checkouts = change(
      known.filter((one) => !gone.includes(one)),
      here,
    );
    writeReceipt(folder, receipt);
  });
}

/** Removed with `git worktree remove`, or deleted and forgotten by git. A folder that is only missing, as on an unmounted disk, is kept. */
function isGone(checkout: string, main: string): boolean {
  return checkout !== main && !existsSync(checkout) && !linkedWorktrees(main).includes(checkout);
}

/** Earlier versions recorded no checkouts; whatever they wired counted for the main one. */
function checkoutsIn({ checkouts, files }: Receipt, main: string): string[] {
  return checkouts ?? (Object.keys(files).length > 0 ? [main] : []);
}

/** Who else uses a file that `uninstall` could change. */
export interface Sharing {
  here: string;
  main: string;
  /** Other checkouts in which `init` was run. */
  others: string[];
  /** Whether the file must stay, because another checkout uses it. */
  isNeeded(file: Pick<WiredFile, "path" | "isRecordedOnly">): boolean;
}

export function sharingOf(receipt: Receipt, { scope, cwd }: Pick<WiringPlace, "scope" | "cwd">): Sharing {
  const { here, main } = checkoutOf(cwd);
  const known = scope === "user" ? [] : checkoutsIn(receipt, main);
  const others = known.filter((one) => one !== here && existsSync(one));
  return {
    here,
    main,
    others,
    isNeeded({ path, isRecordedOnly }) {
      if (others.length === 0) return false;
      // Git's list of ignored files counts in all checkouts.
      if (isRecordedOnly) return others.some((other) => hasFiles(receipt, other, here));
      return here !== main && !isInside(path, here);
    },
  };
}

/** What `uninstall` leaves wired in other checkouts, and what it ends there, one line each. */
export function notesOnOthers(clients: readonly Client[], place: WiringPlace, receipt: Receipt): string[] {
  const { here, main, others, isNeeded } = sharingOf(receipt, place);
  if (others.length === 0) return [];
  const ownFiles = (client: Client, cwd: string) =>
    client
      .files({ ...place, cwd })
      .filter((file) => !file.isRecordedOnly && receipt.files[file.path] !== undefined && existsSync(file.path));
  if (here !== main) {
    const shared = clients.filter((client) => ownFiles(client, place.cwd).some(isNeeded)).map(({ title }) => title);
    if (shared.length === 0) return [];
    const also = others.includes(main) ? "" : `, and ${others[0]} still needs them`;
    return [
      `${shared.join(" and ")} stays connected: all worktrees share its settings in ${main}${also}. \`haversack uninstall\` there removes them`,
    ];
  }
  return others.flatMap((other) => {
    const ended = clients.filter((client) => {
      const mine = new Set(ownFiles(client, place.cwd).map(({ path }) => path));
      return ownFiles(client, other).some(({ path }) => mine.has(path));
    });
    const titles = ended.map(({ title }) => title).join(" and ");
    const more = `other clients stay connected in the worktree ${other}: run \`haversack uninstall\` there`;
    return [
      ...(titles ? [`${titles} is then no longer connected in the worktree ${other} either`] : []),
      ...(hasFiles(receipt, other, here) ? [more] : []),
    ];
  });
}

/** `here` may contain the other checkout, or be inside it. */
function hasFiles({ files }: Receipt, other: string, here: string): boolean {
  const isOther = (path: string) =>
    isInside(path, other) && !(here.length > other.length && isInside(path, here)) && existsSync(path);
  return Object.keys(files).some((path) => isOther(path) && !path.includes("/.git/"));
}

function isInside(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}
