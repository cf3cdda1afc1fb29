import type { Lane, PaceAnswer } from './pace.ts';
import { createPacer, type SavedPace } from './pacer.ts';

/** What one process wants of the shared pace, and what it has to tell. */
export interface Asked {
  /** Requests that wait in each lane. */
  live: number;
  bulk: number;
  /** Turns leased before and not used yet, the process's clock. */
  own: readonly number[];
  /** Turns that nobody waits for any more. */
  unused: number;
  /** Their `sentAt` is of the process's clock. */
  answers: readonly PaceAnswer[];
  localNow: number;
}

export interface Granted {
  /** When each turn may be used, the process's clock. */
  turns: number[];
  /** A pause began: turns leased for before this moment of the process's clock do not stand. */
  standsFrom: number;
  /** Nothing more is to be had for so long. */
  askInMs: number;
}

/** A process leases the turns of so many ms, or one. */
export const shareMs = 250;

/**
 * One exchange with the shared pace, pure: tells the answers, gives back what is not used, and leases the turns that fall into the next 250 ms, live
 * before bulk. Turns never lie further ahead, so a cut, a pause or a live request of another process waits for no more than that.
 */
export function leaseTurns(
  asked: Asked & { random: () => number },
  saved: SavedPace | undefined,
  now: number,
): { pace?: SavedPace; result: Granted } {
  let at = now;
  const pacer = createPacer({ now: () => at, random: asked.random, leaseMs: shareMs }, saved);
  const offset = now - asked.localNow;
  for (const answer of asked.answers) pacer.answered({ ...answer, sentAt: answer.sentAt + offset });
  if (asked.unused > 0) pacer.giveBack(asked.unused);
  const standsFrom = asked.localNow + pacer.pausedMs();
  const standing = pacer.pausedMs() > 0 ? asked.own.filter((turn) => turn >= standsFrom - 1) : asked.own;
  const revoked = asked.own.length - standing.length;
  if (revoked > 0) pacer.giveBack(revoked);
  const turns: number[] = [];
  let askInMs = 0;
  const missing = asked.live + asked.bulk - standing.length;
  const lanes: Lane[] = Array.from({ length: Math.max(0, missing) }, (_, n) => (n < asked.live ? 'live' : 'bulk'));
  for (const lane of lanes) {
    let wait = pacer.ask(lane);
    while (wait > 0 && at + wait <= now + shareMs) {
      at += wait;
      wait = pacer.ask(lane);
    }
    if (wait > 0) {
      askInMs = at + wait - now;
      break;
    }
    turns.push(at - offset);
  }
  const changed = turns.length + asked.answers.length + asked.unused + revoked > 0;
  const result = {
    turns,
    standsFrom: revoked > 0 ? standsFrom - 1 : 0,
    askInMs: Math.min(Math.max(askInMs - shareMs, 0), 60_000),
  };
  return changed ? { pace: pacer.save(), result } : { result };
}
