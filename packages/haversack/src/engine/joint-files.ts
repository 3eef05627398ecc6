/**
 * The files of several clients by their path. Git's own list of ignored files is written by more than one client: it is planned,
 * shown and written once, with everybody's part in it.
 */
import type { Client, WiredFile, WiringPlace } from "./wiring.ts";

export interface JointFile extends WiredFile {
  /** The names of the clients whose parts these are. */
  clients: string[];
}

/** In the order of the clients; a joint file stands where the first of them has it. */
export function jointFiles(
  clients: readonly Client[],
  place: WiringPlace,
  change: (file: WiredFile, client: Client) => WiredFile = (file) => file,
): JointFile[] {
  const parts = clients.flatMap((client) =>
    client.files(place).map((file) => ({ client: client.name, file: change(file, client) })),
  );
  return [...Map.groupBy(parts, ({ file }) => file.path).values()].flatMap((group) => {
    const [first, ...others] = group;
    if (!first) return [];
    const names = [...new Set(group.map(({ client }) => client))];
    return [{ ...others.reduce((joint, { file }) => join(joint, file), first.file), clients: names }];
  });
}

/** The second part goes in after the first and comes out before it. */
function join(first: WiredFile, second: WiredFile): WiredFile {
  return {
    ...first,
    about: first.about === second.about ? first.about : `${first.about}; ${second.about}`,
    isPrivate: Boolean(first.isPrivate || second.isPrivate),
    isRecordedOnly: Boolean(first.isRecordedOnly && second.isRecordedOnly),
    isWhole: Boolean(first.isWhole && second.isWhole),
    wire(text) {
      const one = first.wire(text);
      const both = second.wire(one.text);
      return { text: both.text, keep: [...one.keep, ...both.keep] };
    },
    unwire: (text, keep) => first.unwire(second.unwire(text, keep), keep),
  };
}
