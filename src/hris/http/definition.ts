import type { HttpMethod } from '../../http/http-error.ts';
import type { Definition, FieldOf, PagingOf, WriteOf } from './definition-schema.ts';
import type { Expression, PathStep } from './expression.ts';
import type { CalledHooks } from './hooks.ts';
import type { Template } from './template.ts';

/** A call that a definition describes. */
export interface CallPlan {
  /** Names it in messages: `GET /Users/{id}`. */
  what: string;
  /** The call's purpose in the definition, and its place: `create`, `acme-hr.yaml:31:3`. */
  purpose: string;
  at: string;
  method: HttpMethod;
  path: Template;
  query: Readonly<Record<string, Template>>;
  headers: Readonly<Record<string, Template>>;
  body: Template | undefined;
  /** A multipart form instead of a body. */
  form?: Readonly<Record<string, Template>> | undefined;
  /** `nextIn` and `totalIn` read the whole answer. `fixed`: the size of a page, if the request does not ask for one. */
  paging:
    | (PagingOf & { first: number; size: number; fixed: number | undefined } & Record<
          'nextIn' | 'totalIn',
          Expression | undefined
        >)
    | undefined;
}

export interface SearchPlan extends CallPlan {
  items: Expression;
  trusted: boolean | 'ascii';
  absent: readonly number[];
}

export interface WritePlan extends CallPlan {
  as: WriteOf['as'];
  set: readonly { at: readonly PathStep[]; value: Template }[];
  /** With put: what the system gives and does not take back. */
  without: readonly (readonly PathStep[])[];
  /** The request names the record's version: the system refuses the write if the record has changed. */
  isConditional: boolean;
  /** Conditional, and not sent for a record without a version. */
  needsVersion: boolean;
}

/** A part of an employee with a record of its own. */
export interface StepPlan {
  name: string;
  fields: readonly string[];
  from: Expression | undefined;
  find: (CallPlan & { id: Expression }) | undefined;
  create: CallPlan & { id: Expression };
  update: CallPlan | undefined;
}

export interface FilesPlan {
  list: CallPlan & { items: Expression; name: Expression; id: Expression | undefined };
  same: Readonly<Record<'sha1' | 'sha256' | 'md5' | 'base64', Expression | undefined>>;
  download: CallPlan | undefined;
  upload: CallPlan;
}

export interface FieldPlan extends Omit<FieldOf, 'read'> {
  key: string;
  path: readonly PathStep[];
  /** Set if the field is not read at its path. */
  read: Expression | undefined;
}

/** A checked definition: every expression and template is compiled. */
export interface HttpDefinition
  extends Pick<
    Definition,
    'name' | 'options' | 'nothing' | 'contentType' | 'limits' | 'timeout' | 'retryAfter' | 'readLag' | 'webhooks'
  > {
  fields: readonly FieldPlan[];
  record: {
    id: Expression;
    number: Expression | undefined;
    reference: readonly PathStep[] | undefined;
    former: Expression | undefined;
    version: Expression | undefined;
  };
  search: Readonly<Partial<Record<'reference' | 'number' | 'email' | 'person' | 'name', SearchPlan>>>;
  /** By field: how to find the employees who have a value of it. */
  taken: ReadonlyMap<string, SearchPlan>;
  everybody: (CallPlan & { items: Expression }) | undefined;
  reading: CallPlan & { item: Expression; version: Expression | undefined; absent: readonly number[] };
  /** How to ask for the number, if no record has it. */
  numbering: (CallPlan & { item: Expression; absent: readonly number[] }) | undefined;
  creating: WritePlan & Record<'id' | 'number' | 'item' | 'ticket', Expression | undefined>;
  asking:
    | (CallPlan &
        Record<'done' | 'id', Expression> &
        Record<'refused' | 'number', Expression | undefined> & { every: number })
    | undefined;
  updating: WritePlan;
  terminating: (WritePlan & { takesDay: boolean }) | undefined;
  rehiring: (WritePlan & { sendsFields: boolean }) | undefined;
  removing: CallPlan | undefined;
  changing:
    | (CallPlan & { items: Expression; stamp: Expression; gone: Expression | undefined } & Pick<
          NonNullable<Definition['changes']>,
          'beginning' | 'overlap' | 'reread'
        >)
    | undefined;
  steps: readonly StepPlan[];
  /** The address of an employee's page, with {id} or {number}. */
  employeeUrl: string | undefined;
  /** By name. */
  lists: ReadonlyMap<string, ListPlan>;
  /** Open positions are read and written like employees. */
  positions: { of: HttpDefinition; listing: CallPlan & { items: Expression; id: Expression } } | undefined;
  filing: FilesPlan | undefined;
  describing: (CallPlan & { fields: Expression }) | undefined;
  /** Our client certificate and its key. */
  tls: { certificate: Template; key: Template } | undefined;
  hooks: CalledHooks;
  probing: CallPlan;
  /** Where the body of the probe names the account, and which one it must be. */
  account: { at: Expression; is: Template } | undefined;
  authorizing: AuthPlan;
  refusals: readonly {
    status: readonly number[];
    when: Expression | undefined;
    means: string;
    field: string | undefined;
  }[];
  words: Expression | undefined;
  standing: Readonly<Record<string, Template>>;
}

export type AuthPlan =
  | { kind: 'headers'; headers: Readonly<Record<string, Template>>; query: Readonly<Record<string, Template>> }
  | { kind: 'oauth2'; texts: Readonly<Record<string, Template>>; grant: string; credentials: 'basic' | 'body' }
  | { kind: 'login'; call: CallPlan; token: Expression; headers: Readonly<Record<string, Template>> };

/** How to read a list and its entries. */
export interface ListPlan extends CallPlan {
  items: Expression;
  id: Expression;
  label: Expression;
  active: Expression | undefined;
}
