import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { isLocalAddress, ownSubnets } from '../../src/base/machine/local-network.js';

const local = (address: string, ...subnets: string[]) =>
  isLocalAddress(
    address,
    subnets.map((cidr) => ipaddr.parseCIDR(cidr)),
  );

describe('the local network', () => {
  it.each([
    '127.0.0.1',
    '127.255.255.254',
    '::1',
    '10.0.0.1',
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.1.1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'fc00::1',
    'fd12:3456::1',
    '::ffff:192.168.1.1',
    '::ffff:127.0.0.1',
    '::ffff:c0a8:0101',
  ])('has %s', (address) => {
    expect(local(address)).toBe(true);
  });

  it.each([
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '169.253.255.255',
    '100.64.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '224.0.0.1',
    '2001:db8::1',
    '2606:4700::1111',
    'fec0::1',
    'fbff::1',
    '::ffff:8.8.8.8',
    '::8.8.8.8',
    // Addresses that carry a private IPv4 address and are none.
    '64:ff9b::10.0.0.1',
    '2002:0a00:0001::1',
    '::10.0.0.1',
    '',
    'localhost',
    '10.0.0.1.example',
    '10.0.0',
  ])('has not %s', (address) => {
    expect(local(address)).toBe(false);
  });

  it("has the machine's own subnets, of either family, mapped or not", () => {
    const subnets = ['203.0.113.7/24', '2001:db8:5::7/64'];
    for (const address of ['203.0.113.200', '::ffff:203.0.113.200', '2001:db8:5::ffff'])
      expect(local(address, ...subnets), address).toBe(true);
    for (const address of ['203.0.114.1', '::ffff:203.0.114.1', '2001:db8:6::1'])
      expect(local(address, ...subnets), address).toBe(false);
    expect(ownSubnets().every(([, bits]) => bits > 0)).toBe(true);
  });
});
