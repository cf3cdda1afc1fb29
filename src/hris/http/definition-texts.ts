import { didYouMean } from '../../in-words.ts';
import { type Path, type Problem, problemAt, type YamlFile } from '../../yaml/yaml-file.ts';
import {
  BadExpression,
  compileExpression,
  compileList,
  compileTemplate,
  type Expression,
  type PathStep,
  plainPath,
  type Template,
} from './expression.ts';

export type Reads<Part, Key extends keyof Part> = {
  [One in Key]-?: undefined extends Part[One] ? Expression | undefined : Expression;
};

/** A token of RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;

const readsNothing = (): undefined => undefined;

/** Compiles the texts of one definition, and collects what is wrong with them by line and column. */
export class Texts {
  readonly problems: Problem[] = [];
  protected readonly source: YamlFile;
  readonly #options: string[];

  constructor(source: YamlFile, options: readonly string[]) {
    this.source = source;
    this.#options = options.map((key) => `options.${key}`);
  }

  /** Expressions of a whole answer; others read its body, or a record. */
  protected answers<Part extends object, Key extends keyof Part & string>(at: Path, part: Part, ...keys: Key[]) {
    for (const key of keys) {
      const [, first = 'body'] = /^([A-Za-z]\w*)(?=[.[\s=!]|$)/.exec(String(part[key] ?? '')) ?? [];
      const known = ['status', 'headers', 'body', ...(key === 'ticket' ? ['reference'] : [])];
      if ([...known, 'function'].includes(first)) continue;
      const name = [...at, key].join('.');
      this.wrong([...at, key], `"${name}" reads { ${known.join(', ')} }, so "${first}" is not there: body.${first}?`);
    }
    return this.#compiled(at, part, keys);
  }

  /** Expressions of a body, or of a record. */
  protected reads<Part extends object, Key extends keyof Part & string>(at: Path, part: Part, ...keys: Key[]) {
    for (const key of keys) {
      const [text, whole, rest] = /^(body|headers)\.([\w-]+)/.exec(String(part[key] ?? '')) ?? [];
      if (whole === undefined) continue;
      const instead = whole === 'body' ? `write ${rest}` : `"read.version" may be ${text}`;
      const name = [...at, key].join('.');
      this.wrong([...at, key], `"${name}" reads a body or a record, which has no "${whole}": ${instead}.`);
    }
    return this.#compiled(at, part, keys);
  }

  #compiled<Part extends object, Key extends keyof Part & string>(at: Path, part: Part, keys: readonly Key[]) {
    const read = keys.map((key) => [key, this.expression([...at, key], part[key] as string | undefined)]);
    return Object.fromEntries(read) as Reads<Part, Key>;
  }

  protected expression(at: Path, text: string | undefined): Expression | undefined {
    const compile = at.at(-1) === 'items' ? compileList : compileExpression;
    return text === undefined ? undefined : this.#tried(at, () => compile(text), readsNothing);
  }

  protected place(at: Path, text: string): PathStep[] {
    const path = plainPath(text);
    if (path !== undefined) return path;
    this.wrong(
      at,
      `"${text}" is not a place that can be written. Join names with dots, as in name.givenName or ` +
        'emails[type="work"].value, and put any other name in `backticks`.',
    );
    return [];
  }

  protected templates<Texts extends Readonly<Record<string, unknown>>>(
    at: Path,
    texts: Texts,
    names: readonly string[],
  ) {
    const entries = Object.entries(texts).filter(([, text]) => text !== undefined);
    const templates = entries.map(([key, text]) => [key, this.template([...at, key], text, names)]);
    return Object.fromEntries(templates) as Record<keyof Texts, Template>;
  }

  /** By their names in lower case, because the names of headers have none. */
  protected headers(
    at: Path,
    texts: Readonly<Record<string, string>>,
    names: readonly string[],
  ): Record<string, Template> {
    for (const name of Object.keys(texts).filter((one) => !HEADER_NAME.test(one)))
      this.wrong(
        [...at, name],
        `"${name}" cannot be the name of a header. Use letters, digits and dashes, as in X-Api-Key.`,
      );
    const templates = Object.entries(this.templates(at, texts, names));
    return Object.fromEntries(templates.map(([name, template]) => [name.toLowerCase(), template]));
  }

  protected template(at: Path, source: unknown, names: readonly string[]): Template {
    const known = [...this.#options, ...names];
    const judge = (used: string): string | undefined => {
      if (known.includes(used)) return undefined;
      const isUnmade = at.includes('create') && (used === 'id' || used === 'version');
      const hint = isUnmade
        ? 'The HR system gives it in its answer. Use {reference} for a key that is known before.'
        : known.length === 0
          ? 'None can be used here.'
          : didYouMean(used, known);
      return `"{${used}}" is not a placeholder here. ${hint}`;
    };
    return this.#tried(at, () => compileTemplate(source, judge), readsNothing);
  }

  #tried<Made>(at: Path, compile: () => Made, otherwise: Made): Made {
    try {
      return compile();
    } catch (error) {
      if (!(error instanceof BadExpression)) throw error;
      this.wrong(at, `"${at.join('.')}" ${error.message}`);
      return otherwise;
    }
  }

  protected wrong(at: Path, text: string): void {
    this.problems.push(problemAt(this.source, at, text));
  }
}
