import type { StreamState } from '../../src/store/stream-states.ts';

/** A stream that is paused or held, whatever its kind, does nothing until a person resumes it. */
export function stopOf(state: StreamState | undefined): { state: 'refused'; code: string } | undefined {
  const code = state?.held_code ?? (state?.paused_at ? 'STREAM_PAUSED' : undefined);
  return code === undefined ? undefined : { state: 'refused', code };
}
