import { ConnectorError } from '../errors.ts';
import { type StreamName, streamNames } from '../streams/streams.ts';

/** @throws ConnectorError STREAM_UNKNOWN */
export function assertKnownStream(name: string): asserts name is StreamName {
  if (streamNames.some((known) => known === name)) return;
  throw new ConnectorError({
    code: 'STREAM_UNKNOWN',
    action: 'reject',
    message: `"${name}" is no stream. Name one of: ${streamNames.join(', ')}.`,
  });
}
