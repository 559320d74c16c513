import { shownIdTag, shownName } from '#lib/identity.ts'
import styles from './identity.module.css'

interface IdentityProps {
  readonly idTag: string
  readonly name?: string | undefined
}

/** An identity: its name, and below it the identity itself. Neither changes the direction of the text around it. */
export function Identity({ idTag, name }: IdentityProps) {
  return (
    <span class={styles.identity}>
      <bdi class={styles.name}>{shownName(name, idTag)}</bdi>
      <bdi class={styles.tag} title={idTag}>
        {shownIdTag(idTag)}
      </bdi>
    </span>
  )
}
