import sprite from 'virtual:icon-sprite'
import type { IconName } from './icon-names.ts'

/** An icon for the eye alone: what it means stands in words beside it, or in the name of its button. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" aria-hidden="true" focusable="false">
      <use href={`${sprite}#${name}`} />
    </svg>
  )
}
