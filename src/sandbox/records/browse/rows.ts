import type { SQLInputValue } from 'node:sqlite';
import type { Context } from '../../context.ts';
import { searchPeople } from '../candidates/candidate-search.ts';

/** What the page for people asks of a list; every part may be missing. */
export interface Asked {
  /** Part of a name, title or e-mail, whatever the case. */
  search?: string | undefined;
  jobId?: string | number | undefined;
  status?: string | undefined;
  /** Rows to leave out in front: the page goes on where it stopped. */
  skip: number;
}

/** A row of any list: `label` is what a person calls it, `id` what an action wants. */
export interface Row {
  id: string | number;
  label: string;
  [column: string]: unknown;
}

export interface Rows {
  rows: Row[];
  more: boolean;
}

export const PAGE_ROWS = 25;

/** A list as SQL: columns and tables, and which conditions stand for which question. */
export interface Source {
  select: string;
  /** Of the table whose rows are listed, for `company_id` and the order. */
  alias: string;
  /** The text that is searched, or a candidate's id: people are found by the index of the API's own search. */
  search: string | { person: string };
  jobId?: string;
  status?: string;
  order: string;
}

function searched(ctx: Context, { search }: Source, text = ''): [string, string | undefined] {
  if (text === '') return ['', undefined];
  if (typeof search === 'string') return [`instr(lower(${search}), lower(?)) > 0`, text];
  const ids = JSON.stringify([...searchPeople(ctx, 'searchTerm', text)]);
  return [`${search.person} in (select value from json_each(?))`, ids];
}

/** One more row than shown is read: that there are more is told without counting them. */
export function readRows(ctx: Context, source: Source, asked: Asked): Rows {
  const filters: [sql: string | undefined, value: SQLInputValue | undefined][] = [
    [`${source.alias}.company_id = ?`, ctx.company.id],
    searched(ctx, source, asked.search),
    [source.jobId, asked.jobId],
    [source.status, asked.status === '' ? undefined : asked.status],
  ];
  const used = filters.filter(([sql, value]) => sql !== undefined && value !== undefined);
  const rows = ctx.state.all<Row>(
    `${source.select} where ${used.map(([sql]) => sql).join(' and ')} order by ${source.order} limit ? offset ?`,
    ...used.map(([, value]) => value as SQLInputValue),
    PAGE_ROWS + 1,
    asked.skip,
  );
  return { rows: rows.slice(0, PAGE_ROWS), more: rows.length > PAGE_ROWS };
}
