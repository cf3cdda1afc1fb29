import { defineSignal } from '@temporalio/workflow';
import type { HintAbout } from '../src/hire/hire-run.ts';

/** One hint for one hire. Harmless when repeated: the next step asks the store and the partner. */
export const hintSignal = defineSignal<[HintAbout]>('hint');
