import type { ComponentChildren } from 'preact'
import styles from './button.module.css'
import { Icon } from './icon.tsx'
import type { IconName } from './icon-names.ts'
import { Link } from './link.tsx'

interface ButtonLinkProps {
  readonly href: string
  readonly kind?: 'primary' | 'plain'
  readonly icon?: IconName
  /** Leads out of the app, to another page of the server. */
  readonly isPage?: boolean
  readonly children: ComponentChildren
}

/** A link with the look of a button. */
export function ButtonLink({ href, kind = 'plain', icon, isPage = false, children }: ButtonLinkProps) {
  const classes = [styles.button, styles[kind]].filter(Boolean).join(' ')
  const content = (
    <>
      {icon && <Icon name={icon} />}
      {children}
    </>
  )
  if (!isPage)
    return (
      <Link href={href} class={classes}>
        {content}
      </Link>
    )
  return (
    <a href={href} class={classes}>
      {content}
    </a>
  )
}
