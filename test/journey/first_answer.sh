#!/usr/bin/env bash
# A first answer without any configuration, the parts of the package, an upgrade below a running daemon, and the purge.
. "$(dirname "$0")/steps.bash"
install_package

note "a question to the model that needs no model, answered with a tool"
as_person mcpbx ask -m demo "What is 6*7?"
expect 42
as_person mcpbx call toolbox__calculate expression=2^10
expect 1024
as_person mcpbx tools
expect toolbox__current_time
as_person mcpbx status --json
expect '"version"'
person_fails 1 mcpbx service status
expect "no systemd"

note "what else is installed"
step bash -c 'dpkg -L mcpbx | grep -E "bin/|systemd|completions|vendor|man[158]/|schema|examples/" | sort'
for file in /usr/share/man/man5/mcpbx-config.5.gz /usr/lib/systemd/user/mcpbx.socket /usr/lib/systemd/system/mcpbx@.service \
  /usr/share/bash-completion/completions/mcpbx /usr/share/mcpbx/mcpbx.schema.json; do
  expect "$file"
done
step bash -c 'cd / && grep -v " \./DEBIAN" /var/lib/dpkg/info/mcpbx.md5sums | md5sum -c --quiet && echo "all files are as packed"'

note "an upgrade (here: the same version again) leaves the running daemon and its callers alone"
as_person bash -c 'mcpbx status --json | grep -o "\"pid\":[0-9]*" | tee /tmp/pid'
step bash -c 'apt-get install -y -q --reinstall /journey/mcpbx_*.deb | grep "Setting up mcpbx"'
as_person bash -c 'mcpbx status --json | grep -o "\"pid\":[0-9]*" | diff - /tmp/pid && echo "the same daemon"'
expect "the same daemon"

note "the purge leaves only the files of the person"
as_person mcpbx stop
step bash -c 'apt-get purge -y -q mcpbx | grep "Removing mcpbx"'
step bash -c 'find / -xdev -iname "*mcpbx*" -not -path "/proc/*" -not -path "/journey/*" -not -path "/var/cache/*" -not -path "/var/log/*" | sort'
expect_not /usr/
expect_not /etc/
expect /home/ada/.local/state/mcpbx
