#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Any program can be a GPU test. This one shows the device that it was given, and fails if it was given none.
set -eu

device=${CUDA_VISIBLE_DEVICES:-}
echo "CUDA_VISIBLE_DEVICES=$device"
case $device in
  *,*) echo "expected one device" >&2; exit 1 ;;
  GPU-* | MIG-* | SIM-*) ;;
  *) echo "expected one device by UUID; start this script through 'gputest run --memory medium -- $0'" >&2; exit 1 ;;
esac
