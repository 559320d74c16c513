import type { ComponentChildren, VNode } from 'preact'
import { useMemo } from 'preact/hooks'

interface KeptProps {
  /** Always as many. */
  readonly by: readonly unknown[]
  readonly children: () => VNode | ComponentChildren
}

/** A part of a list that is rendered again when one of these values changes, and not whenever the list is. */
export function Kept({ by, children }: KeptProps) {
  return useMemo(children, [...by])
}
