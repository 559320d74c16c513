import { test } from 'vitest'

/** Stands for a suite that cannot run here. The end of the run says loudly what it `needs`. */
export function skipSuite(name: string, needs: string): void {
  test(name, ({ skip }) => skip(needs))
}
