import type { z } from 'zod';
import type { Contract } from '../../partner/contract/index.ts';
import type { Context } from '../context.ts';

/** An operation's answer: a value, or JSON text that it built itself. The status is the contract's unless given. */
export interface Answer {
  status?: number;
  body?: unknown;
  json?: string;
}

type Parsed<E, Key extends string> = E extends { [K in Key]?: infer Schema }
  ? Schema extends z.ZodType
    ? z.output<Schema>
    : undefined
  : undefined;

/** The input, already checked against the contract. */
export interface Input<E> {
  params: Parsed<E, 'params'>;
  query: Parsed<E, 'query'>;
  body: Parsed<E, 'body'>;
}

/** Implements one endpoint. Throws an ApiError to refuse; its writes are then undone. */
export type Operation<E> = (ctx: Context, input: Input<E>) => Answer;

/** Operations under the ids of the contract; a missing one answers 501. */
export type OperationTree = {
  [Section in keyof Contract]?: { [Id in keyof Contract[Section]]?: Operation<Contract[Section][Id]> };
};

/** `{ status: "success", data }`. */
export function success(data: unknown, more: Record<string, unknown> = {}): Answer {
  return { body: { status: 'success', data, ...more } };
}

/** `{ status: "success", message }`. */
export function confirmation(message: string): Answer {
  return { body: { status: 'success', message } };
}

/** `{ status: "success", data: [...] }` from items that are JSON text already. */
export function successTexts(items: readonly string[], pagination?: Record<string, number>): Answer {
  const tail = pagination === undefined ? '' : `,"pagination":${JSON.stringify(pagination)}`;
  return { json: `{"status":"success","data":[${items.join(',')}]${tail}}` };
}

/** `{ page, limit, total, totalPages }`. */
export function limitPagination(page: number, limit: number, total: number): Record<string, number> {
  return { page, limit, total, totalPages: Math.ceil(total / limit) };
}
