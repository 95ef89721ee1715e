/**
 * Some phones lay the keyboard over the page without telling it: the page then takes the height that is seen.
 */
export function followKeyboard(): void {
  const seen = window.visualViewport;
  if (!seen) return;
  const follow = () => {
    // Zooming in makes it smaller too, and is none of our business.
    const covered = seen.scale === 1 && seen.height < window.innerHeight - 1;
    document.documentElement.style.setProperty("--page-height", covered ? `${seen.height}px` : "100dvh");
  };
  seen.addEventListener("resize", follow);
  follow();
}
