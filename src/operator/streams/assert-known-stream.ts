import { ConnectorError } from '../../errors.ts';
import { landedNames, type PullName, type StreamName, streamNames } from '../../streams/streams.ts';

/** @throws ConnectorError STREAM_UNKNOWN */
export function assertKnownStream(name: string): asserts name is StreamName {
  if (streamNames.some((known) => known === name)) return;
  throw new ConnectorError({
    code: 'STREAM_UNKNOWN',
    action: 'reject',
    message: `"${name}" is no stream. Name one of: ${streamNames.join(', ')}.`,
  });
}

/** @throws ConnectorError STREAM_UNKNOWN, STREAM_NOT_PLANNED */
export function assertPulledStream(name: string): asserts name is PullName {
  assertKnownStream(name);
  if (landedNames.some((known) => known === name)) return;
  throw new ConnectorError({
    code: 'STREAM_NOT_PLANNED',
    action: 'reject',
    message: `"${name}" writes no landing table, so there is no plan of it. Name one of: ${landedNames.join(', ')}.`,
  });
}

/** @throws ConnectorError STREAM_UNKNOWN, STREAM_NOT_PLANNED */
export function pulledStream(name: string): PullName {
  assertPulledStream(name);
  return name;
}
