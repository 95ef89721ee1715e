/** A keyboard is at least so high; less is a bar of the browser, or a page that is just being resized, px. */
const KEYBOARD_PX = 80;

/**
 * Some phones lay the keyboard over the page without telling it: the page then takes the height that is seen.
 */
export function followKeyboard(): void {
  const seen = window.visualViewport;
  if (!seen) return;
  const follow = () => {
    // Zooming in makes it smaller too, and is none of our business.
    const covered = seen.scale === 1 && window.innerHeight - seen.height >= KEYBOARD_PX;
    document.documentElement.style.setProperty("--page-height", covered ? `${seen.height}px` : "100dvh");
  };
  seen.addEventListener("resize", follow);
  // While a window changes its size, one of both heights may be told before the other.
  window.addEventListener("resize", follow);
  follow();
}
