/**
 * Drags a card by mouse, pen or finger. The browser's own drag and drop does not support touch on most phones, so this follows the pointer itself.
 * Elements that accept cards have `data-status`.
 */
export interface Drag {
  /** The drag has begun. */
  onStart(): void;
  /** Undefined: the pointer is over no such place. */
  onOver(status: string | undefined): void;
  /** Undefined: nothing was dropped. */
  onEnd(status: string | undefined): void;
}

/** A mouse that moves less than this clicks. */
const SLOP = 6;
/** A finger that moves before this scrolls. */
const HOLD_MS = 350;
const FINGER_SLOP = 12;

let isDragging = false;

/** Call it when the pointer goes down on the card. */
export function followDrag(down: PointerEvent, { onStart, onOver, onEnd }: Drag): void {
  const card = down.currentTarget as HTMLElement;
  if (!down.isPrimary || down.button !== 0 || isDragging) return;
  const isFinger = down.pointerType === "touch";
  const listening = new AbortController();
  const { signal } = listening;
  let ghost: HTMLElement | undefined;
  let over: string | undefined;

  const start = () => {
    isDragging = true;
    const { left, top, width } = card.getBoundingClientRect();
    ghost = card.cloneNode(true) as HTMLElement;
    ghost.classList.add("ghost");
    ghost.removeAttribute("data-task");
    ghost.inert = true;
    Object.assign(ghost.style, { left: `${left}px`, top: `${top}px`, width: `${width}px` });
    document.body.append(ghost);
    onStart();
  };
  const end = (status: string | undefined) => {
    clearTimeout(held);
    listening.abort();
    if (!ghost) return;
    ghost.remove();
    isDragging = false;
    // Releasing the button over its own place would also count as a click.
    const swallow = (event: Event) => event.stopPropagation();
    addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener("click", swallow, { capture: true }));
    onEnd(status);
  };
  const held = isFinger ? setTimeout(start, HOLD_MS) : undefined;

  const on = <K extends keyof WindowEventMap>(name: K, listener: (event: WindowEventMap[K]) => void) =>
    addEventListener(name, listener, { signal, capture: true });
  on("pointermove", (move) => {
    if (move.pointerId !== down.pointerId) return;
    const [x, y] = [move.clientX - down.clientX, move.clientY - down.clientY];
    const distance = Math.hypot(x, y);
    if (!ghost && isFinger && distance > FINGER_SLOP) return end(undefined);
    if (!ghost && !isFinger && distance > SLOP) start();
    if (!ghost) return;
    ghost.style.transform = `translate(${x}px, ${y}px) rotate(1.5deg)`;
    const status = placeAt(move);
    if (status === over) return;
    over = status;
    onOver(over);
  });
  on("pointerup", (up) => {
    if (up.pointerId === down.pointerId) end(ghost && placeAt(up));
  });
  on("pointercancel", (cancelled) => {
    if (cancelled.pointerId === down.pointerId) end(undefined);
  });
  on("blur", (event) => {
    if ((event.target as unknown) === window) end(undefined);
  });
  on("keydown", (event) => {
    if (!ghost || event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    end(undefined);
  });
  // A finger that rests opens a context menu.
  on("contextmenu", (event) => {
    if (isFinger) event.preventDefault();
  });
}

function placeAt({ clientX, clientY }: PointerEvent): string | undefined {
  // The ghost takes no pointer events.
  const place = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>("[data-status]");
  return place?.dataset["status"];
}

/** While a card is dragged, the finger must not scroll. Only a listener that was added before the touch can prevent that. */
export function stopScroll(place: HTMLElement): () => void {
  const stop = (event: Event) => {
    if (isDragging) event.preventDefault();
  };
  place.addEventListener("touchmove", stop, { passive: false });
  return () => place.removeEventListener("touchmove", stop);
}
