/** The tasks as columns. Cards move by drag, by keyboard, or in the task's panel. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, post, useLive } from "./api.ts";
import { followDrag, stopScroll } from "./drag.ts";
import {
  Ask,
  AskReason,
  Empty,
  focusTask,
  Lease,
  Meter,
  Priority,
  Problem,
  STATUS_NAMES,
  short,
  whole,
} from "./parts.tsx";
import type { BoardCard, BoardView, Brief, Column, GroupCard, GroupsView } from "./types.ts";

const ORDER: readonly Column[] = ["todo", "in_progress", "review", "blocked", "done"];
const MORE = 240;

const KINDS = { task: "Tasks", story: "Stories", epic: "Epics" };
type Kind = keyof typeof KINDS;

export function Board({ onOpen }: { onOpen(id: string): void }) {
  const [kind, setKind] = useState<Kind>("task");
  const [scope, setScope] = useState("");
  /** A card that is moved to Blocked waits until the reason is given. */
  const [asked, setAsked] = useState<{ card: BoardCard; from: Column }>();
  /** How many cards of a column are asked for, if not the first ones. */
  const [limits, setLimits] = useState<Partial<Record<Column, number>>>({});
  const [isAdding, setAdding] = useState(false);
  const [refusal, setRefusal] = useState<string>();
  const [said, setSaid] = useState("");
  const query = new URLSearchParams(Object.entries(limits).map(([status, limit]) => [status, String(limit)]));
  if (scope !== "") query.set(scope.startsWith("E") ? "epic" : "story", scope);
  const { value: newest, error, refresh } = useLive<BoardView>(`board?${query}`);
  const [drag, setDrag] = useState<{ card: BoardCard; from: Column; hasBar: boolean; over?: string | undefined }>();
  const shown = useRef<BoardView>(undefined);
  // The board does not change while a card is dragged. While more cards are loading, the current ones stay.
  if (newest && (!drag || !shown.current)) shown.current = newest;
  const board = shown.current;
  const columns = useRef<HTMLDivElement>(null);
  const hasBoard = board !== undefined;
  useEffect(() => (columns.current ? stopScroll(columns.current) : undefined), [hasBoard]);
  useKeptFocus();
  const { moves, move: carry } = useMoves({
    onAnswer: (answer) => {
      setRefusal(answer.refused);
      setSaid(answer.refused ?? answer.said);
    },
    refresh,
  });
  if (!board) return error === undefined ? <p class="quiet pad">Loading…</p> : <Problem text={error} />;

  const move = (card: BoardCard, from: Column, to: Column, notes?: string) => {
    if (from === to) return;
    if (to === "blocked" && notes === undefined) setAsked({ card, from });
    else carry({ card, to, ...(notes !== undefined && { notes }) });
  };

  const cardsOf = (status: Column): BoardCard[] => {
    const tasks = board.columns.find((one) => one.status === status)?.tasks ?? [];
    if (moves.size === 0) return tasks;
    const arriving = [...moves.values()].filter(({ to }) => to === status).map(({ card }) => card);
    return [...arriving, ...tasks.filter(({ id }) => !moves.has(id))];
  };
  const startDrag = (event: PointerEvent, card: BoardCard, from: Column) =>
    followDrag(event, {
      onStart: () => {
        const { scrollWidth = 0, clientWidth = 0 } = columns.current ?? {};
        setDrag({ card, from, hasBar: scrollWidth > clientWidth });
      },
      onOver: (over) => setDrag((now) => now && { ...now, over }),
      onEnd: (status) => {
        setDrag(undefined);
        const to = ORDER.find((one) => one === status);
        if (to) move(card, from, to);
      },
    });

  return (
    <>
      <h1 class="hidden">Board</h1>
      <div class="bar">
        <fieldset class="choice">
          <legend class="hidden">Show</legend>
          {(Object.keys(KINDS) as Kind[]).map((one) => (
            <label key={one}>
              <input type="radio" name="kind" checked={kind === one} onChange={() => setKind(one)} />
              {KINDS[one]}
            </label>
          ))}
        </fieldset>
        <label class="scope">
          <span class="hidden">Epic or story</span>
          <select
            value={scope}
            onChange={(event) => {
              setScope(event.currentTarget.value);
              setKind("task");
            }}
          >
            <option value="">All work</option>
            {board.groups
              .filter(({ status }) => status !== "archived")
              .map(({ id, kind, title }) => (
                <option key={id} value={id}>
                  {kind === "story" ? "· " : ""}
                  {id} {title}
                </option>
              ))}
          </select>
        </label>
        <Find onOpen={onOpen} />
        <button type="button" class="main" onClick={() => setAdding(true)}>
          New {kind}
        </button>
      </div>
      {isAdding && (
        <NewThing
          kind={kind}
          groups={board.groups}
          scope={scope}
          onDone={(id) => {
            setAdding(false);
            if (id) setSaid(`${id} created`);
            refresh();
          }}
        />
      )}
      <Problem text={refusal ?? error} />
      <p class="hidden" role="status">
        {said}
      </p>
      {board.left.length > 0 && (
        <details class="left">
          <summary>
            {board.left.length} {board.left.length === 1 ? "task was" : "tasks were"} left unfinished
          </summary>
          <ul>
            {board.left.map(({ id, title, agent }) => (
              <li key={id}>
                <button type="button" class="link" onClick={() => onOpen(id)}>
                  {id} {title}
                </button>{" "}
                <span class="quiet">by {agent}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {asked && (
        <AskReason
          id={asked.card.id}
          onDone={(reason) => {
            setAsked(undefined);
            if (reason !== undefined) void move(asked.card, asked.from, "blocked", reason);
          }}
        />
      )}
      {kind !== "task" && (
        <Groups
          kind={kind}
          onPick={(id) => {
            setScope(id);
            setKind("task");
          }}
        />
      )}
      <div
        ref={columns}
        class="columns"
        hidden={kind !== "task"}
        // Without a card nothing in it takes the focus, and the keyboard could not scroll it.
        {...(board.columns.every(({ total }) => total === 0) && {
          tabIndex: 0,
          role: "group",
          "aria-label": "Columns",
        })}
      >
        {ORDER.map((status) => {
          const column = board.columns.find((one) => one.status === status);
          return (
            <ColumnView
              key={status}
              {...{ status, onOpen }}
              cards={cardsOf(status)}
              total={column?.total ?? 0}
              ready={status === "todo" ? board.counts["ready"] : undefined}
              isOver={drag?.over === status && drag.from !== status}
              dragged={drag?.card.id}
              onMove={move}
              onDrag={startDrag}
              onMore={() => setLimits({ ...limits, [status]: (column?.tasks.length ?? 0) + MORE })}
            />
          );
        })}
      </div>
      {drag?.hasBar && (
        <div class="drops" aria-hidden="true">
          {ORDER.map((status) => (
            <div
              key={status}
              data-status={status}
              class={drag.over === status ? "drop over" : drag.from === status ? "drop from" : "drop"}
            >
              <span class={`dot ${status}`} />
              {STATUS_NAMES[status]}
            </div>
          ))}
        </div>
      )}
    </>
  );
}

interface Move {
  card: BoardCard;
  to: Column;
  notes?: string;
}

/**
 * Moved cards are shown in their new column until a board arrives that is newer than the server's answer. Moves are sent one by one, in order. If a
 * move is refused, later moves of the same card are dropped.
 */
function useMoves({
  onAnswer,
  refresh,
}: {
  onAnswer(answer: { refused: string | undefined; said: string }): void;
  refresh(): Promise<void>;
}) {
  const [moves, setMoves] = useState<ReadonlyMap<string, Move>>(new Map());
  const latest = useRef(moves);
  const queue = useRef(Promise.resolve());
  const change = (id: string, move: Move | undefined) => {
    const others = new Map([...latest.current].filter(([other]) => other !== id));
    latest.current = move ? others.set(id, move) : others;
    setMoves(latest.current);
  };
  const send = async (sent: Move) => {
    const { card, to, notes } = sent;
    if (!latest.current.has(card.id)) return;
    const body = { status: to, ...(notes !== undefined && { notes }) };
    const refused = await post(`tasks/${card.id}/status`, body).then(
      (answer) => answer.refused,
      (fault: unknown) => (fault instanceof ApiError ? fault.message : String(fault)),
    );
    onAnswer({ refused, said: `${card.id} moved to ${STATUS_NAMES[to]}` });
    if (refused !== undefined) return change(card.id, undefined);
    void refresh().then(() => {
      if (latest.current.get(card.id) === sent) change(card.id, undefined);
    });
  };
  const move = (one: Move) => {
    change(one.card.id, one);
    queue.current = queue.current.then(() => send(one));
  };
  return { moves, move };
}

/** A card keeps the focus when anybody moves it, although it gets a new element then. */
function useKeptFocus(): void {
  const kept = useRef<string>(undefined);
  useEffect(() => {
    const keep = ({ target }: Event) => {
      kept.current = target instanceof HTMLElement ? target.dataset["task"] : undefined;
    };
    const forget = ({ target }: Event) => {
      if (!(target instanceof Element) || !target.closest("[data-task]")) kept.current = undefined;
    };
    addEventListener("focusin", keep);
    addEventListener("pointerdown", forget);
    return () => {
      removeEventListener("focusin", keep);
      removeEventListener("pointerdown", forget);
    };
  }, []);
  useLayoutEffect(() => {
    if (kept.current !== undefined && document.activeElement === document.body) focusTask(kept.current);
  });
}

function ColumnView({
  status,
  cards,
  total,
  ready,
  isOver,
  dragged,
  onOpen,
  onMove,
  onDrag,
  onMore,
}: {
  status: Column;
  cards: readonly BoardCard[];
  total: number;
  ready: number | undefined;
  isOver: boolean;
  dragged: string | undefined;
  onOpen(id: string): void;
  onMove(card: BoardCard, from: Column, to: Column): void;
  onDrag(event: PointerEvent, card: BoardCard, from: Column): void;
  onMore(): void;
}) {
  const title = STATUS_NAMES[status] ?? status;
  const list = useRef<HTMLUListElement>(null);
  /** Index of the first card that "more" loads. It gets the focus, because the button may disappear. */
  const firstNew = useRef<number>(undefined);
  useLayoutEffect(() => {
    if (firstNew.current === undefined || cards.length <= firstNew.current) return;
    list.current?.querySelectorAll<HTMLElement>(".card")[firstNew.current]?.focus();
    firstNew.current = undefined;
  }, [cards.length]);
  return (
    <section class={isOver ? "column over" : "column"} data-status={status} aria-label={title}>
      <h2>
        <span class={`dot ${status}`} aria-hidden="true" />
        {title} <span class="count">{whole(total)}</span>
        {ready !== undefined && ready > 0 && <span class="quiet"> {ready === total ? "all" : whole(ready)} ready</span>}
      </h2>
      <ul ref={list} class="cards">
        {cards.map((card) => (
          <Card key={card.id} {...{ card, status, onOpen, onMove, onDrag }} isDragged={card.id === dragged} />
        ))}
      </ul>
      {cards.length === 0 && <Empty>{EMPTY[status]}</Empty>}
      {total > cards.length && (
        <button
          type="button"
          class="more"
          onClick={() => {
            firstNew.current = cards.length;
            onMore();
          }}
        >
          {whole(total - cards.length)} more
        </button>
      )}
    </section>
  );
}

const EMPTY: Readonly<Record<Column, string>> = {
  todo: "Nothing to do. “New task” adds one.",
  in_progress: "Nobody works on a task.",
  review: "Nothing to review.",
  blocked: "Nothing is blocked.",
  done: "Nothing is done yet.",
};

function Card({
  card,
  status,
  isDragged,
  onOpen,
  onMove,
  onDrag,
}: {
  card: BoardCard;
  status: Column;
  isDragged: boolean;
  onOpen(id: string): void;
  onMove(card: BoardCard, from: Column, to: Column): void;
  onDrag(event: PointerEvent, card: BoardCard, from: Column): void;
}) {
  const { id, title, type, priority, agent, lease_until, waiting, note, group } = card;
  const onKeyDown = (event: KeyboardEvent) => {
    const at = ORDER.indexOf(status);
    const to = event.key === "ArrowRight" ? ORDER[at + 1] : event.key === "ArrowLeft" ? ORDER[at - 1] : undefined;
    if (event.shiftKey && to) {
      event.preventDefault();
      onMove(card, status, to);
    } else if (["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"].includes(event.key)) {
      event.preventDefault();
      focusNext(event.currentTarget as HTMLElement, event.key);
    }
  };
  return (
    <li class="item">
      <button
        type="button"
        class={isDragged ? "card dragged" : "card"}
        data-task={id}
        aria-keyshortcuts="Shift+ArrowLeft Shift+ArrowRight"
        onClick={() => onOpen(id)}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => onDrag(event, card, status)}
      >
        {group && (
          <span class="card-group" dir="auto">
            {group}
          </span>
        )}
        <span class="card-title" dir="auto">
          {title}
        </span>
        <span class="card-foot">
          <span class="id">{id}</span>
          <Priority value={priority} />
          {type !== "feature" && <span class="tag">{type}</span>}
          {waiting && <span class="tag">waits</span>}
          {agent && (
            <span class="who">
              {agent} {lease_until && <Lease until={lease_until} />}
            </span>
          )}
        </span>
        {note && (
          <span class="card-note" dir="auto">
            {note}
          </span>
        )}
      </button>
    </li>
  );
}

/** Arrow keys go from card to card. */
function focusNext(from: HTMLElement, key: string): void {
  const column = from.closest(".column");
  const cards = [...(column?.querySelectorAll<HTMLElement>(".card") ?? [])];
  const at = cards.indexOf(from);
  if (key === "ArrowDown" || key === "ArrowUp") {
    cards[at + (key === "ArrowDown" ? 1 : -1)]?.focus();
    return;
  }
  let next = key === "ArrowRight" ? column?.nextElementSibling : column?.previousElementSibling;
  while (next && !next.querySelector(".card"))
    next = key === "ArrowRight" ? next.nextElementSibling : next.previousElementSibling;
  const there = [...(next?.querySelectorAll<HTMLElement>(".card") ?? [])];
  (there[at] ?? there.at(-1))?.focus();
}

function Find({ onOpen }: { onOpen(id: string): void }) {
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const wanted = text.trim();
  const { value } = useLive<{ tasks: Brief[]; is_cut: boolean }>(
    wanted.length < 2 ? undefined : `find?text=${encodeURIComponent(wanted)}`,
  );
  /** Enter was pressed before the results arrived. */
  const isWaiting = useRef(false);
  const openFirst = () => {
    const [first] = value?.tasks ?? [];
    isWaiting.current = value === undefined && wanted.length >= 2;
    if (!first) return;
    setText("");
    onOpen(first.id);
  };
  useEffect(() => {
    if (isWaiting.current && value) openFirst();
  }, [value]);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      if (event.key !== "/" || isTyping) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);
  return (
    <search class="find">
      <label>
        <span class="hidden">Find a task</span>
        <input
          ref={field}
          type="search"
          placeholder="Find a task  /"
          value={text}
          onInput={(event) => {
            isWaiting.current = false;
            setText(event.currentTarget.value);
          }}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            // Without this, the same key press also clicks the panel's close button, which has the focus by then.
            event.preventDefault();
            openFirst();
          }}
        />
      </label>
      {wanted.length >= 2 && value && (
        <ul class="found" aria-label="Tasks found">
          {value.tasks.map(({ id, title, status }) => (
            <li key={id}>
              <button
                type="button"
                onClick={() => {
                  setText("");
                  onOpen(id);
                }}
              >
                <span class="id">{id}</span> <bdi>{title}</bdi> <span class="quiet">{STATUS_NAMES[status]}</span>
              </button>
            </li>
          ))}
          {value.tasks.length === 0 && <li class="quiet pad">No task has “{wanted}” in its title.</li>}
          {value.is_cut && <li class="quiet pad">The first {short(value.tasks.length)}; type more to narrow it.</li>}
        </ul>
      )}
    </search>
  );
}

const GROUP_COLUMNS = ["todo", "in_progress", "done"] as const;

/** Epics or stories by status. The status follows from their tasks, so these cards cannot be moved. */
function Groups({ kind, onPick }: { kind: "epic" | "story"; onPick(id: string): void }) {
  const { value, error } = useLive<GroupsView>(`groups?kind=${kind}`);
  if (!value) return error === undefined ? <p class="quiet pad">Loading…</p> : <Problem text={error} />;
  const { groups, total } = value;
  return (
    <>
      <Problem text={error} />
      <div class="columns three">
        {GROUP_COLUMNS.map((status) => {
          const cards = groups.filter((group) => group.status === status);
          return (
            <section key={status} class="column" aria-label={STATUS_NAMES[status]}>
              <h2>
                <span class={`dot ${status}`} aria-hidden="true" />
                {STATUS_NAMES[status]} <span class="count">{cards.length}</span>
              </h2>
              <ul class="cards">
                {cards.map((group) => (
                  <li key={group.id} class="item">
                    <GroupCardView {...{ group, onPick }} />
                  </li>
                ))}
              </ul>
              {cards.length === 0 && <Empty>None.</Empty>}
            </section>
          );
        })}
      </div>
      {total > groups.length && (
        <p class="quiet pad">
          The first {groups.length} of {total}.
        </p>
      )}
    </>
  );
}

function GroupCardView({ group, onPick }: { group: GroupCard; onPick(id: string): void }) {
  const { id, title, done, total, epic_id } = group;
  return (
    <button type="button" class="card" onClick={() => onPick(id)}>
      <span class="card-title" dir="auto">
        {title}
      </span>
      <Meter value={total > 0 ? done / total : 0} label="Done" />
      <span class="card-foot">
        <span class="id">{id}</span>
        {epic_id && <span class="id">in {epic_id}</span>}
        <span>{total === 0 ? "no tasks" : `${whole(done)} of ${whole(total)} done`}</span>
      </span>
    </button>
  );
}

function NewThing({
  kind,
  groups,
  scope,
  onDone,
}: {
  kind: Kind;
  groups: BoardView["groups"];
  scope: string;
  onDone(id?: string): void;
}) {
  const [error, setError] = useState<string>();
  const submit = async (fields: object) => {
    try {
      const { id } = await post("tasks", { kind, ...fields });
      onDone(id);
    } catch (fault) {
      setError((fault as Error).message);
    }
  };
  const parents = groups.filter((group) => group.kind === (kind === "task" ? "story" : "epic"));
  return (
    <Ask title={`New ${kind}`} submit="Create" onSubmit={(fields) => void submit(fields)} onCancel={() => onDone()}>
      <label class="wide">
        Title
        <input name="title" required maxLength={200} autocomplete="off" />
      </label>
      {kind !== "epic" && (
        <label>
          {kind === "task" ? "Story" : "Epic"}
          <select name={kind === "task" ? "story_id" : "epic_id"}>
            <option value="">none</option>
            {parents.map(({ id, title: name }) => (
              <option key={id} value={id} selected={id === scope}>
                {id} {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {kind === "task" && (
        <>
          <label>
            Type
            <select name="type">
              {["feature", "bug", "chore", "spike", "test", "api"].map((type) => (
                <option key={type}>{type}</option>
              ))}
            </select>
          </label>
          <label>
            Priority
            <select name="priority">
              {["P0", "P1", "P2", "P3"].map((one) => (
                <option key={one} selected={one === "P2"}>
                  {one}
                </option>
              ))}
            </select>
          </label>
        </>
      )}
      <label class="wide">
        Description
        <textarea name="description" rows={3} />
      </label>
      <Problem text={error} />
    </Ask>
  );
}
