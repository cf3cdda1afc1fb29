import type { Landings } from '../hris/port.ts';
import * as list from './index.ts';
import type { Stream } from './stream.ts';

export type StreamName = keyof typeof list;

export const streams: Readonly<Record<StreamName, Stream>> = list;

export const streamNames = Object.keys(list) as StreamName[];

/** What may land in an HRIS, by stream. */
export const landings: Landings = everyStream((name) => streams[name].landing);

/** One value for every stream. */
export function everyStream<T>(valueOf: (name: StreamName) => T): Record<StreamName, T> {
  return Object.fromEntries(streamNames.map((name) => [name, valueOf(name)])) as Record<StreamName, T>;
}
