import { defineSignal } from '@temporalio/workflow';
import type { HintAbout } from '../src/hire/hire.ts';

/** One hint for one hire. Safe to repeat: the next step asks the store and the partner. */
export const hintSignal = defineSignal<[HintAbout]>('hint');

/** Some records of a stream should be read again; their ids are in the store. */
export const streamHintSignal = defineSignal('stream-hint');

/**
 * Task queue for activities that read a lot (reconciles, streams), separate from the hires' queue: each has its own
 * slots, so that neither waits behind the other.
 */
export function bulkQueueOf(liveQueue: string): string {
  return `${liveQueue}/bulk`;
}
