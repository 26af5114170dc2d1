# The commands of this repository; each is a line or two around a script in tools/, which says more.

.DEFAULT_GOAL := help
.PHONY: help setup build demo test test-8.5 check bench install uninstall clean

help: ## this list
	@grep -E '^[a-z0-9.-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([^:]+):[^#]*## /\1\t/' | expand -t 12

setup: ## install what building and testing need (Debian, root), or say what is missing
	@tools/setup

build: setup ## build askr.so for this machine's PHP
	@tools/build-ext host

demo: setup ## run a real Laravel application: 10,000 jobs through its workers, and an account of each
	@tools/demo

test: setup ## run every test and count them; SUITES="core laravel13" runs some
	@tools/test $(SUITES)

test-8.5: setup ## run the phpt files on PHP 8.5, from Debian's experimental
	@tools/test phpt-8.5

check: setup ## format, lints, docs, PHP syntax
	@tools/check

bench: setup ## measure the queue: the claim's cost as it grows, and each call beside Redis and the database driver
	@tools/bench

install: ## install askr.so and its ini file where PHP looks; DESTDIR is honoured
	@tools/install

uninstall: ## remove them again
	@tools/install --remove

clean: ## remove what was built here; the roots in the cache stay
	@tools/clean
