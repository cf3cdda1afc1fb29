import type { Landings } from '../hris/port.ts';
import type { PairEntity } from '../store/linked-pairs.ts';
import * as list from './index.ts';
import type { ExchangeStream, PullStream, PushStream, Stream } from './stream.ts';

/** Names of all streams, used in tenant files, the command line, schedules and the store. */
export type StreamName = keyof typeof list;
/** Streams whose records are pulled. */
export type PullName = { [Name in StreamName]: (typeof list)[Name] extends PullStream ? Name : never }[StreamName];

/** Streams that go both ways. */
export type ExchangeName = {
  [Name in StreamName]: (typeof list)[Name] extends ExchangeStream ? Name : never;
}[StreamName];

/** Streams that send the HRIS's data to the partner. */
export type PushName = { [Name in StreamName]: (typeof list)[Name] extends PushStream ? Name : never }[StreamName];

export const streams: Readonly<Record<StreamName, Stream>> = list;

export const streamNames = Object.keys(list) as StreamName[];

export const pullNames = streamNames.filter((name) => streams[name].kind === 'pull') as PullName[];

export const pullStreams = Object.fromEntries(pullNames.map((name) => [name, streams[name]])) as Readonly<
  Record<PullName, PullStream>
>;

/** Streams whose records land in the HRIS. */
export const landedNames = pullNames.filter((name) => !isLookup(name));

/** Streams that continue a hire once it has ended. */
export const afterHireNames = streamNames.filter((name) => {
  const stream: Stream = streams[name];
  return stream.kind === 'push' && stream.followsHires === true;
});

export const exchangeNames = streamNames.filter((name) => streams[name].kind === 'exchange');

export function isExchange(name: string): name is ExchangeName {
  return exchangeNames.some((one) => one === name);
}

/** The partner's kind of record that holds the values of an exchange. */
export function entityOf(name: StreamName): PairEntity {
  const stream = streams[name];
  if (stream.kind !== 'exchange') throw new Error(`The stream ${name} exchanges nothing.`);
  return stream.entity;
}

/** Landing tables that an HRIS may have, by stream. */
export const landings: Landings = Object.fromEntries(landedNames.map((name) => [name, pullStreams[name].landing]));

/** Whether the stream keeps a table of the partner in our own store; it writes nothing on either side. */
export function isLookup(name: StreamName): boolean {
  const stream: Stream = streams[name];
  return stream.kind === 'pull' && stream.isLookup === true;
}

/** Maps every stream to a value. */
export function everyStream<T>(valueOf: (name: StreamName) => T): Record<StreamName, T> {
  return Object.fromEntries(streamNames.map((name) => [name, valueOf(name)])) as Record<StreamName, T>;
}

/** Type of the workflow that runs the stream. */
export function workflowOf(name: StreamName): string {
  const stream = streams[name];
  return stream.kind === 'pull' ? 'pullStream' : stream.workflow;
}
