import type { Command } from './command.ts'

/** Every command, in the order in which help shows them. */
export const commands: readonly Command[] = []
