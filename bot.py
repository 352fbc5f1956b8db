from bot.__main__ import main  # the package bot/: Python finds it before this file

main()
