import type { Sharer, Sharers } from './sharers.ts';

/** What one process is told of the calls under way. */
export interface InFlightShare {
  /** So many it may have; undefined: as many as it has permits. */
  mostInFlight: number | undefined;
  /** The others have so many, as far as is known. */
  othersInFlight: number;
}

/** How long each process has what cannot be divided: calls fewer than processes, or the rest of a division. */
const TURN_MS = { fewer: 2_000, rest: 10_000 };

/**
 * Divides `most` calls under way: a process may have as many as it needs, or an even share of what is left where all
 * need more. Nobody is given what another may still use: of what processes told of late, there are never more than
 * `most` in all.
 */
export function shareInFlight(most: number | undefined, sharers: Sharers, own: string, now: number): InFlightShare {
  const others = Object.entries(sharers).flatMap(([id, sharer]) => (id === own ? [] : [sharer]));
  const seen = others.reduce((sum, other) => sum + underWay(other), 0);
  if (most === undefined) return { mostInFlight: undefined, othersInFlight: seen };
  const held = others.reduce((sum, other) => sum + heldBy(other, most / (others.length + 1)), 0);
  const mostInFlight = Math.max(0, Math.min(fairShare(most, sharers, own, now), most - held));
  // Where all that there is has its taker, what was seen some hundred ms ago says less than what was given.
  const isContested = Object.values(sharers).reduce((sum, { needs = most }) => sum + needs, 0) >= most;
  return { mostInFlight, othersInFlight: isContested ? Math.max(seen, most - mostInFlight) : seen };
}

/** A process that needs its whole share always has it under way. */
function underWay({ inFlight, needs = 0, most = 0 }: Sharer): number {
  return Math.max(inFlight, Math.min(needs, most));
}

/** An earlier version does not say what it was given: an even share. */
function heldBy({ most, inFlight }: Sharer, even: number): number {
  return Math.max(inFlight, most ?? Math.ceil(even));
}

function fairShare(most: number, sharers: Sharers, own: string, now: number): number {
  const ids = Object.keys(sharers).toSorted();
  // Where there are enough, a process that is idle keeps one for the live request that may come.
  const least = most >= 2 * ids.length ? 1 : 0;
  const needs = new Map(ids.map((id) => [id, Math.max(sharers[id]?.needs ?? most, least)]));
  const ownNeeds = needs.get(own) ?? 0;
  const spare = most - [...needs.values()].reduce((sum, calls) => sum + calls, 0);
  if (spare >= 0) return ownNeeds + Math.floor(spare / ids.length);
  let left = most;
  for (const [id, calls] of [...needs].toSorted(([, a], [, b]) => a - b)) {
    if (calls * needs.size > left) break;
    if (id === own) return calls;
    left -= calls;
    needs.delete(id);
  }
  return evenShare(left, [...needs.keys()], own, now);
}

function evenShare(calls: number, ids: readonly string[], own: string, now: number): number {
  const turn = Math.floor(now / (calls < ids.length ? TURN_MS.fewer : TURN_MS.rest));
  const place = (ids.indexOf(own) + turn) % ids.length;
  return Math.floor(calls / ids.length) + (place < calls % ids.length ? 1 : 0);
}
