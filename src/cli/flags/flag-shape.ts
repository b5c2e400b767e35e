import type { CommandName } from '../command-table.ts';

/** What the table of flags says of one. */
export interface FlagShape {
  /** A list can be repeated. A switch takes no value. */
  readonly type: 'text' | 'integer' | 'list' | 'switch';
  /** What the docs write for the value. */
  readonly value?: string;
  /** Bounds of an integer, both included. */
  readonly range?: readonly [number, number];
  readonly default?: string | number;
  /** One letter. */
  readonly alias?: string;
  /** A line of the help, which adds the default. */
  readonly description: string;
  /** The heading in the help. */
  readonly group: string;
  readonly commands: readonly CommandName[];
  /** Replaces the value and the description for a command to which the flag means something else. */
  readonly helpOn?: Partial<Record<CommandName, { value: string; description: string }>>;
}

/** The commands that start a server. */
export const SERVERS = ['serve', 'exec', 'sweep'] as const;
